/* engine/version.h: the version of the program, in one place. */
#ifndef AT_ENGINE_VERSION_H
#define AT_ENGINE_VERSION_H

#define AT_VERSION "1.0.0"

#endif
