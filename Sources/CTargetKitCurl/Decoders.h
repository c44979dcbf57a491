// SPDX-License-Identifier: MIT
// The structures and functions of the libraries with which libcurl decodes bodies: zlib, brotli and zstd. WebSockets
// compress with zlib, too. They are not linked: `LoadedLibrary` looks the functions up. `CurlDeclarationTests` compares
// the layout of `z_stream` with <zlib.h>.
#ifndef TARGETKIT_CURL_DECODERS_H
#define TARGETKIT_CURL_DECODERS_H

#include <stddef.h>
#include <stdint.h>

// zlib's `z_stream`.
struct ccurl_z_stream {
    const uint8_t *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

typedef int (*ccurl_inflate_init)(struct ccurl_z_stream *stream, int window_bits, const char *version, int size);
typedef int (*ccurl_inflate)(struct ccurl_z_stream *stream, int flush);
typedef int (*ccurl_inflate_change)(struct ccurl_z_stream *stream);

typedef int (*ccurl_deflate_init)(struct ccurl_z_stream *stream, int level, int method, int window_bits, int memory_level,
                                  int strategy, const char *version, int size);
typedef int (*ccurl_deflate)(struct ccurl_z_stream *stream, int flush);
typedef int (*ccurl_deflate_change)(struct ccurl_z_stream *stream);

typedef void *(*ccurl_brotli_create)(void *allocate, void *release, void *opaque);
typedef int (*ccurl_brotli_decode)(void *decoder, size_t *avail_in, const uint8_t **next_in, size_t *avail_out,
                                   uint8_t **next_out, size_t *total_out);
typedef void (*ccurl_brotli_destroy)(void *decoder);

// `ZSTD_inBuffer` and `ZSTD_outBuffer`.
struct ccurl_zstd_in {
    const void *start;
    size_t size;
    size_t position;
};
struct ccurl_zstd_out {
    void *start;
    size_t size;
    size_t position;
};

typedef void *(*ccurl_zstd_create)(void);
typedef size_t (*ccurl_zstd_set)(void *decoder, int parameter, int value);
typedef size_t (*ccurl_zstd_decode)(void *decoder, struct ccurl_zstd_out *output, struct ccurl_zstd_in *input);
typedef unsigned int (*ccurl_zstd_is_error)(size_t result);
typedef size_t (*ccurl_zstd_free)(void *decoder);

#endif
