# SPDX-License-Identifier: MIT
dist_pkgdata_DATA += doc/summary.schema.json
