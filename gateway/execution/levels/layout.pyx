# cython: language_level=3
"""Reads attributes directly from the memory of an object.

The plain way is `PyObject_GetAttr`. It searches the class and then the object, which takes 230
instructions. The memory offset of an attribute depends on the class alone, and CPython assigns a
new version to a class whenever the class changes. This module therefore looks up the offset once
for each version of a class, as the interpreter's specialized instructions do (PEP 659). Attributes
with a known offset can also be prefetched.

Two kinds of offsets are known: slots (`__slots__`, the fields of structs), and the inline values in
which CPython 3.11 to 3.13 stores the attributes of an object until its `__dict__` is read. In all
other cases `place_of` returns NULL. A known place may also contain NULL. The caller must then call
`PyObject_GetAttr`.
"""

from cpython.object cimport PyObject

cdef extern from *:
    """
    #include <structmember.h>

    static inline unsigned int version_of(PyObject *owner) { return Py_TYPE(owner)->tp_version_tag; }
    static inline int is_generic(PyObject *owner) {
    #ifdef Py_GIL_DISABLED  /* another thread may write to the object at the same time */
        return 0;
    #endif
        return Py_TYPE(owner)->tp_getattro == PyObject_GenericGetAttr;
    }
    /* The offset of a slot in the objects of its class, or -1. */
    static Py_ssize_t slot_offset(PyObject *found, PyObject *owner) {
        PyMemberDescrObject *slot = (PyMemberDescrObject *)found;
        if (!Py_IS_TYPE(found, &PyMemberDescr_Type) || slot->d_member->type != T_OBJECT_EX)
            return -1;
        if (slot->d_member->flags & ~READONLY || !PyObject_TypeCheck(owner, slot->d_common.d_type))
            return -1;
        return slot->d_member->offset;
    }
    static inline PyObject *found_in_class(PyObject *owner, PyObject *name) {
        return _PyType_Lookup(Py_TYPE(owner), name);
    }
    /* Whether an attribute of the class may take precedence over the object's own attribute, now
       or later: a mutable class may get a __set__. */
    static inline int may_be_asked_first(PyObject *found) {
        return Py_TYPE(found)->tp_descr_set != NULL
            || !PyType_HasFeature(Py_TYPE(found), Py_TPFLAGS_IMMUTABLETYPE);
    }
    """
    unsigned int version_of(object owner)
    bint is_generic(object owner)
    Py_ssize_t slot_offset(object found, object owner)
    bint may_be_asked_first(object found)
    PyObject *found_in_class(object owner, object name)

cdef enum: MOST = 8  # lookups at most: alternating classes would be looked up again and again


cdef int learn(Layout *layout, object owner, str name) except -1:
    """Look up the offset of an attribute in objects of this class."""
    cdef PyObject *found
    if layout.learned == MOST or layout.version and layout.version == version_of(owner):
        return 0
    found = found_in_class(owner, name)  # also assigns a version to the class
    layout.learned += 1
    layout.version, layout.where = version_of(owner), NOWHERE
    if not layout.version or not is_generic(owner):
        return 0
    if found is not NULL:
        layout.offset = slot_offset(<object> found, owner)
        if layout.offset >= 0:
            layout.where = IN_OBJECT
            return 0
        if may_be_asked_first(<object> found):
            return 0
    layout.offset = offset_in_values(owner, name)
    if layout.offset >= 0:
        layout.where = IN_VALUES
    return 0


cdef Py_ssize_t offset_in_values(object owner, str name) except -2:
    """Returns the offset of an attribute in an object's inline values. To find it, makes an object
    that has only this attribute. Returns -1 if that is not possible."""
    cdef PyObject **values
    cdef int index
    cls = type(owner)
    if values_of(<PyObject *> owner) is NULL or found_in_class(owner, "__del__") is not NULL:
        return -1
    mark = object()
    try:
        bare = object.__new__(cls)
        object.__setattr__(bare, name, mark)
    except Exception:
        return -1
    values = values_of(<PyObject *> bare)
    index = -1 if values is NULL else first_set(values)
    return -1 if index < 0 or values[index] is not <PyObject *> mark else index * sizeof(PyObject *)


def found(owner, str name):
    """Returns the value at the attribute's offset; None if no offset is known, or the place is
    empty. For tests."""
    cdef Layout layout = Layout(version=0, where=NOWHERE, learned=0, offset=0)
    cdef PyObject **place
    learn(&layout, owner, name)
    place = place_of(&layout, <PyObject *> owner)
    return None if place is NULL or place[0] is NULL else <object> place[0]
