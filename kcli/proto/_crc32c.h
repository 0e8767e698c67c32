/* CRC-32C: 256 bytes at once by carry-less multiplication where the processor has vpclmulqdq, else its instruction on
   three streams at once, else a table of eight. */
#ifndef KCLI_CRC32C_H
#define KCLI_CRC32C_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KCLI_POLY 0x82F63B78u
#define KCLI_BLOCK 1024 /* bytes of each of the three streams */
#if defined(__x86_64__) && (defined(__clang__) ? __clang_major__ >= 10 : defined(__GNUC__) && __GNUC__ >= 10)
#define KCLI_WIDE 256 /* bytes folded at once */
#endif

static uint32_t kcli_table[8][256];
static uint32_t kcli_shift[2][4][256]; /* a CRC after KCLI_BLOCK, and after twice as many, zero bytes */
static volatile int kcli_ready = 0;
static int kcli_hardware = 0;
static int kcli_folds = 0;
static uint64_t kcli_fold[2]; /* x^(64 + 2048 - 1) and x^(2048 - 1) modulo the polynomial, reflected */

static uint32_t kcli_zeros(uint32_t crc, int count) {
    while (count-- > 0) crc = kcli_table[0][crc & 255] ^ (crc >> 8);
    return crc;
}

/* x^power modulo the polynomial as the upper half of a reflected 64-bit polynomial. */
static uint64_t kcli_power(int power) {
    uint32_t value = 1u << 31;
    while (power-- > 0) value = value & 1 ? (value >> 1) ^ KCLI_POLY : value >> 1;
    return (uint64_t)value << 32;
}

static void kcli_prepare(void) {
    uint32_t bit[32];
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (int k = 0; k < 8; k++) crc = crc & 1 ? (crc >> 1) ^ KCLI_POLY : crc >> 1;
        kcli_table[0][n] = crc;
    }
    for (int n = 0; n < 256; n++)
        for (int k = 1; k < 8; k++)
            kcli_table[k][n] = kcli_table[0][kcli_table[k - 1][n] & 255] ^ (kcli_table[k - 1][n] >> 8);
    for (int which = 0; which < 2; which++) {
        for (int k = 0; k < 32; k++) bit[k] = kcli_zeros(1u << k, KCLI_BLOCK * (which + 1));
        for (int k = 0; k < 4; k++)
            for (int n = 0; n < 256; n++) {
                uint32_t crc = 0;
                for (int b = 0; b < 8; b++)
                    if (n >> b & 1) crc ^= bit[8 * k + b];
                kcli_shift[which][k][n] = crc;
            }
    }
#if defined(__x86_64__) && defined(__GNUC__)
    kcli_hardware = __builtin_cpu_supports("sse4.2");
#endif
#ifdef KCLI_WIDE
    kcli_fold[0] = kcli_power(64 + 8 * KCLI_WIDE - 1);
    kcli_fold[1] = kcli_power(8 * KCLI_WIDE - 1);
    kcli_folds = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("vpclmulqdq");
#endif
    kcli_ready = 1;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
static uint32_t kcli_moved(int which, uint32_t crc) {
    return kcli_shift[which][0][crc & 255] ^ kcli_shift[which][1][crc >> 8 & 255] ^
           kcli_shift[which][2][crc >> 16 & 255] ^ kcli_shift[which][3][crc >> 24];
}

__attribute__((target("sse4.2"))) static uint32_t kcli_fast(uint32_t crc, const uint8_t* at, size_t size) {
    uint64_t a = crc, b, c, x, y, z;
    while (size >= 3 * KCLI_BLOCK) {
        b = c = 0;
        for (int i = 0; i < KCLI_BLOCK; i += 8) {
            memcpy(&x, at + i, 8);
            memcpy(&y, at + KCLI_BLOCK + i, 8);
            memcpy(&z, at + 2 * KCLI_BLOCK + i, 8);
            a = _mm_crc32_u64(a, x);
            b = _mm_crc32_u64(b, y);
            c = _mm_crc32_u64(c, z);
        }
        a = kcli_moved(1, (uint32_t)a) ^ kcli_moved(0, (uint32_t)b) ^ (uint32_t)c;
        at += 3 * KCLI_BLOCK;
        size -= 3 * KCLI_BLOCK;
    }
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&x, at, 8);
        a = _mm_crc32_u64(a, x);
    }
    for (; size; at++, size--) a = _mm_crc32_u8((uint32_t)a, *at);
    return (uint32_t)a;
}
#endif

#ifdef KCLI_WIDE
#include <immintrin.h>
/* Four registers of four lanes of 128 bits. A lane times x^2048 lands on the lane 256 bytes further on: the product of
   two reflected polynomials is reflected and too large by one x, which the constants make up for. What is left in the
   end are 256 bytes with the same remainder. */
__attribute__((target("sse4.2,avx512f,vpclmulqdq"))) static uint32_t kcli_widest(
    uint32_t crc, const uint8_t* at, size_t size) {
    const __m512i by = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)kcli_fold));
    uint8_t left[KCLI_WIDE];
    __m512i lanes[4];
    for (int i = 0; i < 4; i++) lanes[i] = _mm512_loadu_si512(at + 64 * i);
    lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    for (at += KCLI_WIDE, size -= KCLI_WIDE; size >= KCLI_WIDE; at += KCLI_WIDE, size -= KCLI_WIDE)
        for (int i = 0; i < 4; i++)
            lanes[i] = _mm512_ternarylogic_epi64(
                _mm512_clmulepi64_epi128(lanes[i], by, 0x00), _mm512_clmulepi64_epi128(lanes[i], by, 0x11),
                _mm512_loadu_si512(at + 64 * i), 0x96);
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(left + 64 * i, lanes[i]);
    return kcli_fast(kcli_fast(0, left, KCLI_WIDE), at, size);
}
#endif

static uint32_t kcli_crc32c(uint32_t crc, const uint8_t* at, size_t size) {
    if (!kcli_ready) kcli_prepare();
    crc = ~crc;
#ifdef KCLI_WIDE
    if (kcli_folds && size >= 2 * KCLI_WIDE) return ~kcli_widest(crc, at, size);
#endif
#if defined(__x86_64__) && defined(__GNUC__)
    if (kcli_hardware) return ~kcli_fast(crc, at, size);
#endif
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        crc = kcli_table[7][low & 255] ^ kcli_table[6][low >> 8 & 255] ^ kcli_table[5][low >> 16 & 255] ^
              kcli_table[4][low >> 24] ^ kcli_table[3][at[4]] ^ kcli_table[2][at[5]] ^ kcli_table[1][at[6]] ^
              kcli_table[0][at[7]];
    }
    for (; size; at++, size--) crc = kcli_table[0][(crc ^ *at) & 255] ^ (crc >> 8);
    return ~crc;
}

/* The index in memory of the first byte whose high bit is set. */
static inline int kcli_first(uint64_t marks) {
    int at = 0;
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    at = __builtin_ctzll(marks) >> 3;
#else
    unsigned char bytes[8];
    memcpy(bytes, &marks, 8);
    while (!(bytes[at] & 128)) at++;
#endif
    return at;
}

/* Whether `what`, of 1 byte or more, is in [at, at + size). Where its first and its last byte are at the right distance,
   which 16 places are asked at once, the bytes between are compared. */
static int kcli_has(const uint8_t* at, size_t size, const uint8_t* what, size_t length) {
    size_t here = 0, last = length - 1;
    if (length == 1) return memchr(at, what[0], size) != NULL;
    if (length > size) return 0;
#if defined(__x86_64__) && defined(__GNUC__)
    const __m128i first_of = _mm_set1_epi8((char)what[0]), last_of = _mm_set1_epi8((char)what[last]);
    for (; size - here >= last + 16; here += 16) {
        const __m128i begins = _mm_cmpeq_epi8(first_of, _mm_loadu_si128((const __m128i*)(at + here)));
        const __m128i ends = _mm_cmpeq_epi8(last_of, _mm_loadu_si128((const __m128i*)(at + here + last)));
        unsigned both = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));
        for (; both; both &= both - 1)
            if (!memcmp(at + here + __builtin_ctz(both) + 1, what + 1, last)) return 1;
    }
#endif
    for (; size - here >= length; here++)
        if (at[here] == what[0] && !memcmp(at + here + 1, what + 1, last)) return 1;
    return 0;
}
#endif
