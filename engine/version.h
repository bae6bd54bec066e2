/* engine/version.h: the version of the program, in one place. */
#ifndef AT_ENGINE_VERSION_H
#define AT_ENGINE_VERSION_H

#define AT_VERSION "0.1.0"

#endif
