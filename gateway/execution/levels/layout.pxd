"""Reads an attribute at a known memory offset (see `layout.pyx`)."""

from cpython.object cimport PyObject

cdef extern from *:
    """
    enum { NOWHERE, IN_OBJECT, IN_VALUES };

    typedef struct {
        unsigned int version;  /* of the class for which the offset was looked up */
        int where, learned;
        Py_ssize_t offset;
    } Layout;

    #if defined(Py_GIL_DISABLED) || PY_VERSION_HEX >= 0x030E0000
    static inline PyObject **values_of(PyObject *owner) { return NULL; }
    static inline int first_set(PyObject **values) { return -1; }

    #elif PY_VERSION_HEX >= 0x030D0000  /* _PyObject_InlineValues, get_insertion_order_array */
    typedef struct { uint8_t capacity, size, embedded, valid; PyObject *values[1]; } Inlined;
    static inline PyObject **values_of(PyObject *owner) {
        Inlined *found = (Inlined *)(owner + 1);
        if (!(Py_TYPE(owner)->tp_flags & Py_TPFLAGS_INLINE_VALUES) || !found->valid)
            return NULL;
        return found->values;
    }
    static inline int first_set(PyObject **values) {
        Inlined *found = (Inlined *)((char *)values - offsetof(Inlined, values));
        return found->size == 1 ? *(uint8_t *)&found->values[found->capacity] : -1;
    }

    #else  /* _PyObject_ValuesPointer, _PyDictValues_AddToInsertionOrder */
    static inline PyObject **values_of(PyObject *owner) {
        if (!(Py_TYPE(owner)->tp_flags & Py_TPFLAGS_MANAGED_DICT))
            return NULL;
    #if PY_VERSION_HEX >= 0x030C0000
        uintptr_t found = ((uintptr_t *)owner)[-3];
        return found & 1 ? (PyObject **)(found + 1) : NULL;
    #else
        return ((PyObject ***)owner)[-4];
    #endif
    }
    static inline int first_set(PyObject **values) {
        uint8_t *size = (uint8_t *)values - 2;
        return *size == 1 ? size[-1] : -1;
    }
    #endif

    static inline PyObject **place_of(const Layout *layout, PyObject *owner) {
        char *start = (char *)owner;
        if (Py_TYPE(owner)->tp_version_tag != layout->version || layout->where == NOWHERE)
            return NULL;
        if (layout->where == IN_VALUES)
            start = (char *)values_of(owner);
        return start ? (PyObject **)(start + layout->offset) : NULL;
    }

    /* Prefetch an object's header, the place of its attribute, and the attribute's value.
       always_inline: gcc removes calls of functions that only prefetch, unless they are inlined
       before. */
    #define INLINED static inline __attribute__((always_inline))
    INLINED void fetch_object(PyObject *owner) {
        __builtin_prefetch((char *)owner - 4 * sizeof(void *));
        __builtin_prefetch(owner);
    }
    INLINED void fetch_place(const Layout *layout, PyObject *owner) {
        PyObject **positions = place_of(layout, owner);
        if (positions)
            __builtin_prefetch(positions);
    }
    INLINED void fetch_value(const Layout *layout, PyObject *owner) {
        PyObject **positions = place_of(layout, owner);
        if (positions) {
            __builtin_prefetch(*positions);
            __builtin_prefetch((char *)*positions + 64);
        }
    }
    """
    enum: NOWHERE, IN_OBJECT, IN_VALUES
    ctypedef struct Layout:
        unsigned int version
        int where, learned
        Py_ssize_t offset
    PyObject **values_of(PyObject *owner)
    int first_set(PyObject **values)
    PyObject **place_of(const Layout *layout, PyObject *owner) noexcept
    void fetch_object(PyObject *owner) noexcept
    void fetch_place(const Layout *layout, PyObject *owner) noexcept
    void fetch_value(const Layout *layout, PyObject *owner) noexcept

cdef int learn(Layout *layout, object owner, str name) except -1
