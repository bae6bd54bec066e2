/* schedule/default_for.h: what default configurations are made for beside lanes. */
#ifndef AT_SCHEDULE_DEFAULT_FOR_H
#define AT_SCHEDULE_DEFAULT_FOR_H

/* Added to the lanes: facts of an instruction set. */
enum {
    /* 32 registers are multiplied by one lane of another, on cores that may go in order. */
    AT_BY_ELEMENT = 1 << 8,
    /* Dot products of two s16 are one instruction, those of bytes several. */
    AT_QUICK_WORDS = 1 << 9,
    /* There are dot products of two s16, and none of bytes. */
    AT_ONLY_WORDS = 1 << 10,
    AT_JUST_LANES = AT_BY_ELEMENT - 1
};

#endif
