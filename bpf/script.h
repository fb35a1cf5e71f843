/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of scripts: where CPython keeps them in memory, and how they are stored with a native
 * stack. Part of the ABI. Names and lines are not stored: the loader reads them from the process.
 */
#ifndef BPF_SCRIPT_H
#define BPF_SCRIPT_H

#include <linux/types.h>

/*
 * Where CPython keeps a thread's frames. Offsets are in bytes. In the outermost frame of each
 * evaluation loop, the byte at the offset `border` has the value `border_value`.
 */
struct memleak_interpreter {
	__u64 key;       /* address of two __u32: whether the pthread key exists, and the key */
	__u64 current;   /* address of the pointer to the running thread's state; 0: use the key */
	__u32 thread;    /* in the thread state: the thread pointer (pthread_self()) */
	__u32 holder;    /* in the thread state: pointer to the innermost frame, or to the holder */
	__u32 held;      /* in the holder: pointer to the innermost frame */
	__u32 previous;  /* in a frame: pointer to the caller's frame */
	__u32 code;      /* in a frame: pointer to the code object, with tag bits in 3.14 */
	__u32 instr;     /* in a frame: pointer to the instruction */
	__u32 border;    /* in a frame: the byte that marks an evaluation loop's outermost frame */
	__u8 has_holder; /* 1 if the thread state points to a holder struct */
	__u8 border_value;
	__u8 border_is_empty; /* 1 if the outermost frame executes no code: it is not stored */
	__u8 hashes_names;    /* 1 if a code object's cookie includes the hash of its name */
	__u8 counts_frees;    /* 1 if a probe counts all code objects that the process frees */
	__u8 misses_frees;    /* 1 once a code object was freed without being counted */
};

/*
 * Numbers of bytes read from a thread state and from a frame. All offsets in struct
 * memleak_interpreter are below these limits.
 */
#define MEMLEAK_SCRIPT_STATE_BYTES 160
#define MEMLEAK_SCRIPT_FRAME_BYTES 80

/*
 * 64-bit words of a code object that distinguish it from a later code object at the same address:
 * counts and pointers, which never change. From Python 3.12 on, they include a number unique in the
 * process. For Python 3.11, the hash of the name is added.
 */
#define MEMLEAK_SCRIPT_COOKIE 72 /* offset of these words in a code object */
#define MEMLEAK_SCRIPT_COOKIE_WORDS 9
#define MEMLEAK_SCRIPT_COOKIE_NAME 6 /* index of the word that points to the name */
#define MEMLEAK_SCRIPT_HASH 24       /* offset of the hash in a string; computed for all names */

/* Maximum number of script frames stored with a stack. */
#define MEMLEAK_SCRIPT_FRAMES_MAX 62
#define MEMLEAK_SCRIPT_FRAMES_BITS 63
/*
 * Maximum number of script frames read: each stored frame may be followed by a marker frame that is
 * not stored, and one more is read to detect that the stack is cut.
 */
#define MEMLEAK_SCRIPT_STEPS_MAX (2 * MEMLEAK_SCRIPT_FRAMES_MAX + 1)

/*
 * A frame of a script. In a stack, the script frames follow the native frames, innermost first.
 * Each takes two 64-bit words.
 */
struct memleak_script_frame {
	__u64 code;   /* address of the code object, and flags */
	__u32 instr;  /* distance of the instruction from the code object */
	__u32 cookie; /* memleak_script_cookie() of the code object */
};

/* Bits that Python 3.14 uses for tags in pointers to code objects. */
#define MEMLEAK_SCRIPT_CODE_TAGS 7ULL

#define MEMLEAK_SCRIPT_BORDER (1ULL << 63) /* the outermost frame of an evaluation loop */
#define MEMLEAK_SCRIPT_CUT (1ULL << 62)    /* the callers of this frame are unknown */
#define MEMLEAK_SCRIPT_CODE(frame) ((frame)->code & ~(MEMLEAK_SCRIPT_BORDER | MEMLEAK_SCRIPT_CUT))

static inline __attribute__((always_inline)) __u64 hash_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

static inline __attribute__((always_inline)) __u32 memleak_script_cookie(const __u64 *words,
									 __u64 name_hash)
{
	__u64 hash = name_hash;

	for (__u32 i = 0; i < MEMLEAK_SCRIPT_COOKIE_WORDS; i++)
		hash = hash_mix(hash, words[i]);
	return hash >> 32;
}

#endif
