cimport cython

from loaders.batches cimport Batch, Load


cdef class LoaderCache:
    cdef public dict slots
    cdef public list pending, values
    cdef public Batch open
    cdef public object singles

    cpdef many(self, loader, keys)
    cpdef single(self, loader, key)
    cpdef close(self, Batch batch)
    cpdef fail(self, Batch batch, error)
    @cython.locals(next_slot=Py_ssize_t, values=list)
    cpdef end(self, Batch batch, given)
    cdef list _begin(self, Batch batch)
    cdef _loaded(self, Batch batch, list keys, given)
    @cython.locals(batch=Batch)
    cdef Batch _add_new(self, loader, list new)
    @cython.locals(batch=Batch)
    cdef Batch _add_except(self, loader, list new, dict at_hand)
    cdef _add_to(self, Batch batch, list keys)
    cdef tuple _missing_batches(self, list slots)
    cdef _merge_singles(self)
    @cython.locals(batch=Batch)
    cdef Batch _open_batch(self, loader)
