/* schedule/by_element.h: what default configurations are made for beside lanes. */
#ifndef AT_SCHEDULE_BY_ELEMENT_H
#define AT_SCHEDULE_BY_ELEMENT_H

/* Added to the lanes: a set of 32 registers that are multiplied by one lane of another, on cores
 * that may go in order. */
enum { AT_BY_ELEMENT = 1 << 8 };

#endif
