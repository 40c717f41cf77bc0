/* SPDX-License-Identifier: MIT */
/* Whether the viewer's page can be fetched. */
#ifndef SRC_SERVE_PAGE_REACH_H
#define SRC_SERVE_PAGE_REACH_H

#include "base/common.h"

/*
 * Connect to the host of a page, by its origin (viewer_page_origin()), for at most three seconds.
 * Nothing is sent.
 * Returns NULL if it can be reached, or this host cannot know: its browsers use a proxy; else the
 * reason, constant.
 */
const char *page_reach(const char *origin);

#endif
