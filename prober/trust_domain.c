// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares files by owner, permissions and mount. */
#include "prober/trust_domain.h"

#include <fcntl.h>

/* Headers of older distributions lack the id of the mount. */
static uint64_t mount_of(int fd)
{
#ifdef STATX_MNT_ID
	struct statx st;

	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) &&
	    st.stx_mask & STATX_MNT_ID)
		return st.stx_mnt_id;
#endif
	return 0;
}

struct trust_domain trust_domain_of(int fd, const struct stat *st)
{
	return (struct trust_domain){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.mount = mount_of(fd),
		.uid = st->st_uid,
		.gid = st->st_gid,
		.writers = st->st_mode & (S_IWGRP | S_IWOTH),
	};
}

bool trust_domain_equal(const struct trust_domain *a, const struct trust_domain *b)
{
	return a->dev == b->dev && a->mount == b->mount && a->uid == b->uid && a->gid == b->gid &&
	       a->writers == b->writers && (!a->writers || a->ino == b->ino);
}
