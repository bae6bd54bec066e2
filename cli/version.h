/* cli/version.h: the version of the program, in one place. */
#ifndef AT_CLI_VERSION_H
#define AT_CLI_VERSION_H

#define AT_VERSION "0.1.0"

#endif
