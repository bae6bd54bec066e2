/* tests/cli/png.c: decodes a PNG file as far as browsers write them. Source: the PNG specification,
 * third edition, sections 5, 9 and 11. */
#include "tests/cli/png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t big_endian(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Row by row in place; each begins with the number of its filter. */
static bool unfilter(unsigned char *data, int height, size_t row_bytes, size_t pixel_bytes) {
    for (int y = 0; y < height; y++) {
        unsigned char *row = data + (size_t)y * (row_bytes + 1) + 1;
        const unsigned char *above = y ? row - row_bytes - 1 : NULL;
        for (size_t i = 0; i < row_bytes; i++) {
            int a = i >= pixel_bytes ? row[i - pixel_bytes] : 0, b = above ? above[i] : 0;
            int c = above && i >= pixel_bytes ? above[i - pixel_bytes] : 0;
            switch (row[-1]) {
            case 0: break;
            case 1: row[i] = (unsigned char)(row[i] + a); break;
            case 2: row[i] = (unsigned char)(row[i] + b); break;
            case 3: row[i] = (unsigned char)(row[i] + (a + b) / 2); break;
            case 4: row[i] = (unsigned char)(row[i] + paeth(a, b, c)); break;
            default: return false;
            }
        }
    }
    return true;
}

static void count(const unsigned char *data, size_t row_bytes, size_t pixel_bytes, png_facts *f) {
    const unsigned char *ground = data + 1;
    double bright = 0, drawn = 0, colored = 0, all = (double)f->width * f->height;
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            const unsigned char *p =
                data + (size_t)y * (row_bytes + 1) + 1 + (size_t)x * pixel_bytes;
            int most = p[0] > p[1] ? p[0] : p[1], least = p[0] < p[1] ? p[0] : p[1];
            if (p[2] > most) most = p[2];
            if (p[2] < least) least = p[2];
            bright += (p[0] + p[1] + p[2]) / 765.0;
            drawn += memcmp(p, ground, 3) != 0;
            colored += most - least > 40;
        }
    f->brightness = bright / all;
    f->drawn = drawn / all;
    f->colored = colored / all;
}

bool png_look(const unsigned char *file, size_t size, png_facts *out) {
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (size < 33 || memcmp(file, signature, 8) != 0) return false;
    out->width = (int)big_endian(file + 16);
    out->height = (int)big_endian(file + 20);
    size_t pixel_bytes = file[25] == 2 ? 3 : file[25] == 6 ? 4 : 0;
    if (file[24] != 8 || !pixel_bytes || file[28]) return false;
    size_t row_bytes = pixel_bytes * (size_t)out->width;
    uLongf length = (uLongf)(row_bytes + 1) * (uLongf)out->height, packed = 0;
    unsigned char *data = malloc(length), *parts = malloc(size);
    for (size_t at = 8; at + 12 <= size;) {
        size_t n = big_endian(file + at);
        if (n > size - at - 12) break;
        if (!memcmp(file + at + 4, "IDAT", 4))
            memcpy(parts + packed, file + at + 8, n), packed += n;
        at += n + 12;
    }
    bool ok = data && parts && uncompress(data, &length, parts, packed) == Z_OK &&
              unfilter(data, out->height, row_bytes, pixel_bytes);
    if (ok) count(data, row_bytes, pixel_bytes, out);
    free(data);
    free(parts);
    return ok;
}
