cimport cython


cdef class Batch:
    cdef public object singles
    cdef public list keys, slots
    cdef public Py_ssize_t first
    cdef public bint asked, cleared, done
    cdef object _loader
    cdef dict _waiters

    cpdef add(self, list keys, Py_ssize_t first, list slots=*)
    cpdef all_slots(self)
    cpdef ask(self)
    cpdef load(self)
    cpdef wake(self, waiter, key)
    cpdef forget(self, Load load)
    cpdef awaited(self)
    cpdef merge_singles(self)
    cpdef end(self, given)


cdef class Load:
    cdef public bint _asyncio_future_blocking
    cdef bint _waits
    cdef object _keys
    cdef list _callbacks, _slots, _values
    cdef tuple _batches, _cancelled
    cdef object _tell

    @cython.locals(batch=Batch)
    cpdef list missing(self)
    @cython.locals(batch=Batch)
    cpdef only_missing(self)
    cpdef tell(self, callback)
    cdef _wait(self)
    cdef _wait_for(self, Batch batch)
    cdef tuple _one_in(self, Batch batch)
    cpdef batch_done(self)
    cdef _ended(self)
    @cython.locals(batch=Batch)
    cpdef list result(self)
    @cython.locals(batch=Batch)
    cpdef bint done(self)
