// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the libpng structures of each thumbnail.
// expect: make_thumbnail through png_write_row or png_create_write_struct
// library: libpng (libpng-dev)
#include <png.h>

#include "server.h"

unsigned int requests_per_s = 10;

static void discard(png_structp png, png_bytep data, size_t size)
{
}

static void make_thumbnail(void)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL); // LEAK
	png_infop info = png_create_info_struct(png);                                       // LEAK
	static png_byte row[16 * 3];

	png_set_write_fn(png, NULL, discard, NULL);
	png_set_IHDR(png, info, 16, 16, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, 0, 0);
	png_write_info(png, info); // LEAK
	for (int i = 0; i < 16; i++)
		png_write_row(png, row); // LEAK
	png_write_end(png, NULL);        // LEAK
}

void handle_request(unsigned int number)
{
	make_thumbnail();
}
