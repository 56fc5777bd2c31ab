// Package heap reads and rewrites the blocks of heap relation files: pages, line pointers, tuples, varlena values, TOAST
// pointers and checksums.
//
// It is pure: bytes in, values out. Nothing in it trusts the bytes: every offset and length is checked against the block, and
// what is wrong is an error that says so, never a panic. Only little-endian files are read, and only layout version 4, which
// PostgreSQL writes since 8.3. The rules are those of src/include/storage/bufpage.h, storage/itemid.h, access/htup_details.h
// and varatt.h of the PostgreSQL sources; docs/heap-format.md has them in pictures.
package heap
