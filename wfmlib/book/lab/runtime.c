/* What numba's kernels ask of their surroundings: memory for arrays.
   Arrays lie one behind the other, and one that nobody refers to any more makes room for another
   of about its size: a search of a thousand steps needs no more than one of ten. `reset` drops
   those of the last call, and leaves what was there when `keep` was called.
   The offsets are those of numba's MemInfo (numba/core/runtime/nrtdynmod.py), words of 64 bits. */

typedef unsigned long long word;
typedef unsigned long size;

struct MemInfo {
  word count;
  void *destructor, *information, *data;
  word size;
};

enum { PAGE = 65536, ALIGNED = 64, KINDS = 26 };

extern unsigned char __heap_base;
static size top, kept;
static struct MemInfo *spare[KINDS]; /* of 64 bytes times a power of 2; the next is `information` */

void reset(void) {
  top = kept ? kept : (size)&__heap_base;
  for (int kind = 0; kind < KINDS; kind++) spare[kind] = 0;
}

void keep(void) { kept = top; }

/* Return that many bytes; where the browser has no more, the call ends with a trap. */
void *take(size bytes) {
  if (!top) reset();
  size start = (top + ALIGNED - 1) / ALIGNED * ALIGNED;
  size end = start + bytes, held = __builtin_wasm_memory_size(0) * PAGE;
  if (end < start) __builtin_trap();
  if (end > held && __builtin_wasm_memory_grow(0, (end - held + PAGE - 1) / PAGE) == -1ul)
    __builtin_trap();
  top = end;
  return (void *)start;
}

/* The runtime's `alloc_aligned` and its memory of lists, which grows nowhere. What is known of an
   array stands before it. */
void *NRT_MemInfo_alloc_aligned(word bytes, int alignment) {
  word kind = 0;
  while (kind < KINDS && ((word)ALIGNED << kind) < bytes) kind++;
  if (kind == KINDS) __builtin_trap();
  struct MemInfo *info = spare[kind];
  if (info) {
    spare[kind] = info->information;
  } else {
    info = take(ALIGNED + ((size)ALIGNED << kind));
    info->data = (char *)info + ALIGNED;
  }
  info->count = 1;
  info->size = kind;
  return info;
}

void *NRT_MemInfo_new_varsize_dtor(word bytes, void *destructor) {
  return NRT_MemInfo_alloc_aligned(bytes, ALIGNED);
}

/* An array that a page has handed over belongs to nobody here. */
void NRT_incref(struct MemInfo *info) {
  if (info) info->count++;
}

void NRT_decref(struct MemInfo *info) {
  if (!info || --info->count) return;
  info->information = spare[info->size];
  spare[info->size] = info;
}
