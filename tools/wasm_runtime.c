/* What numba's kernels ask of their surroundings: memory for arrays.
   Arrays lie one behind the other and are not freed: `reset` drops those of the last call, and
   leaves what was there when `keep` was called.
   The offsets are those of numba's MemInfo (numba/core/runtime/nrtdynmod.py), words of 64 bits. */

typedef unsigned long long word;
typedef unsigned long size;

struct MemInfo {
  word count;
  void *destructor, *information, *data;
  word size;
};

enum { PAGE = 65536, ALIGNED = 64 };

extern unsigned char __heap_base;
static size top, kept;

void reset(void) { top = kept ? kept : (size)&__heap_base; }

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

/* The runtime's `alloc_aligned` and its memory of lists, which grows nowhere. */
void *NRT_MemInfo_alloc_aligned(word bytes, int alignment) {
  struct MemInfo *info = take(sizeof *info);
  info->count = 1;
  info->size = bytes;
  info->data = take((size)bytes);
  return info;
}

void *NRT_MemInfo_new_varsize_dtor(word bytes, void *destructor) {
  return NRT_MemInfo_alloc_aligned(bytes, ALIGNED);
}
