/* tests/cli/png.h: what is on a screenshot. */
#ifndef AT_TEST_PNG_H
#define AT_TEST_PNG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct png_facts {
    int width, height;
    double brightness; /* mean of all pixels, 0 to 1 */
    double drawn;      /* share of pixels unlike the first one, which is the page's ground */
    double colored;    /* share of pixels that are no grey */
} png_facts;

/* Of 8-bit RGB and RGBA without interlacing, which is what browsers write. False: it is none. */
bool png_look(const unsigned char *file, size_t size, png_facts *out);

#endif
