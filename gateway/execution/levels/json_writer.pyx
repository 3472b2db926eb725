# cython: language_level=3, boundscheck=False, wraparound=False, nonecheck=False
"""Reads the leaves of objects into their columns, and writes tables as JSON.

`resolution` and `writer` do the same in Python, where this module isn't built. The bytes are
orjson's, to the last.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.string cimport memset

from gateway.execution.levels.layout cimport (
    fetch_object,
    fetch_place,
    fetch_value,
    learn,
    place_of,
)
from gateway.execution.levels.text cimport (
    Text,
    copied_plain,
    make_room,
    put,
    put_bytes,
    put_escaped,
    put_int,
    put_string,
)
from gateway.execution.levels.tables cimport Column, Table

from orjson import dumps as dumps_float

from gateway.execution.encode import dumps
from gateway.execution.tasks.frames import without_frame

cdef extern from *:
    """
    static inline int is_string(PyObject *value) { return PyUnicode_CheckExact(value); }

    static inline const char *utf8_or_null(PyObject *text, Py_ssize_t *size) {
        const char *found = utf8_of(text, size);
        if (found == NULL)
            PyErr_Clear();
        return found;
    }

    /* Copies whole words: up to 15 bytes more than `size` are read and written. */
    static inline void copy_words(char *to, const char *text, Py_ssize_t size) {
        for (Py_ssize_t i = 0; i < size; i += 16)
            memcpy(to + i, text + i, 16);
    }

    /* always_inline: see layout.pxd */
    static inline __attribute__((always_inline)) void fetch_leaf(PyObject *leaf) {
        __builtin_prefetch(leaf);
        __builtin_prefetch((char *)leaf + 64);
    }
    """
    void copy_words(char *to, const char *text, Py_ssize_t size) noexcept
    void fetch_leaf(PyObject *leaf) noexcept
    bint is_string(PyObject *value) noexcept
    const char *utf8_or_null(PyObject *text, Py_ssize_t *size) noexcept
    object PyObject_GetAttr(object owner, object name)
    PyObject **PySequence_Fast_ITEMS(object items)
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t row) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject *items) noexcept
    void Py_INCREF(PyObject *value) noexcept
    void Py_DECREF(PyObject *value) noexcept

cdef enum: STRING, ID, INT, FLOAT, BOOLEAN, OTHER
cdef dict KINDS = {
    "String": STRING, "ID": ID, "Int": INT, "Float": FLOAT, "Boolean": BOOLEAN, "other": OTHER
}
cdef enum: ROOM = 4096  # bytes, at first
cdef enum: FEW = 32  # leaves whose columns need no memory from the heap
cdef enum: WORDS = 16  # bytes that are copied at a time
cdef enum: STEP = 4  # rows between one step of fetching and the next
cdef enum: LEAF_COLUMN, ID_COLUMN, LIST_COLUMN, OBJECT_COLUMN, ABSTRACT_COLUMN  # as in tables.py


cdef class LeafReader:
    """Reads the leaves of objects of one type that are attributes of the objects."""

    def __init__(self):
        self.held = []

    def __dealloc__(self):
        PyMem_Free(self.leaves)

    def add(self, int number, str name, str kind, bint nonnull, shown):
        """Add the leaf of a column. `kind` is a key of KINDS; for "other", `shown` coerces a
        value."""
        cdef Leaf *leaf
        leaf = <Leaf *> PyMem_Realloc(self.leaves, (self.count + 1) * sizeof(Leaf))
        if leaf is NULL:
            raise MemoryError
        self.leaves = leaf
        leaf += self.count
        self.count += 1
        memset(leaf, 0, sizeof(Leaf))
        self.held += [name, shown]
        leaf.number, leaf.kind, leaf.nonnull = number, KINDS[kind], nonnull
        leaf.name, leaf.shown = <PyObject *> name, <PyObject *> shown

    cpdef list read(self, objs, Table table, Py_ssize_t first):
        """Read the leaves of objects, each leaf once, into the table's rows from `first` on.
        Returns a list of (number of the column, row, value) for all values that are not as usual:
        they must still be completed. What a property raises is its value."""
        cdef PyObject **few[FEW]
        cdef PyObject ***columns = few
        cdef int i
        if self.count > FEW:
            columns = <PyObject ***> PyMem_Malloc(self.count * sizeof(PyObject **))
            if columns is NULL:
                raise MemoryError
        try:
            for i in range(self.count):  # nothing that is called below changes the columns' sizes
                column = <Column> table.columns[self.leaves[i].number]
                columns[i] = PySequence_Fast_ITEMS((<Column> column).values) + first
            return self.read_into(columns, tuple(objs), first)
        finally:
            if columns is not few:
                PyMem_Free(columns)

    cdef list read_into(self, PyObject ***columns, tuple owners, Py_ssize_t first):
        """Read leaf `i` of the object `row` to `columns[i][row]`."""
        cdef PyObject **items = PySequence_Fast_ITEMS(owners)
        cdef Py_ssize_t count = PyTuple_GET_SIZE(owners), row
        cdef list unusual = None
        cdef Leaf *leaf
        cdef PyObject *before
        cdef int i
        for row in range(-3 * STEP if count > 1 else 0, 0):
            self.fetch(items, row, count)
        for row in range(count):
            if row + STEP < count:
                self.fetch(items, row, count)
            for i in range(self.count):
                leaf = &self.leaves[i]
                value = leaf_of(leaf, items[row])
                if leaf.kind == OTHER and not (value is None and not leaf.nonnull):
                    try:
                        value = (<object> leaf.shown)(value)
                    except Exception:
                        if unusual is None:
                            unusual = []
                        unusual.append((leaf.number, first + row, value))
                        continue
                elif not is_usual(leaf, value):
                    if unusual is None:
                        unusual = []
                    unusual.append((leaf.number, first + row, value))
                    continue
                before = columns[i][row]
                Py_INCREF(<PyObject *> value)
                columns[i][row] = <PyObject *> value
                Py_DECREF(before)
        return unusual

    cdef int fetch(self, PyObject **owners, Py_ssize_t row, Py_ssize_t count) except -1:
        """Prefetch the attributes of later rows, each in the step after the pointer to it was
        fetched."""
        cdef int i
        row += STEP
        if 0 <= row < count:
            for i in range(self.count):
                fetch_value(&self.leaves[i].layout, owners[row])
        row += STEP
        if 0 <= row < count:
            for i in range(self.count):
                fetch_place(&self.leaves[i].layout, owners[row])
        row += STEP
        if 0 <= row < count:
            fetch_object(owners[row])
        return 0


cdef inline object leaf_of(Leaf *leaf, PyObject *owner):
    """Returns the value of an attribute, or the Exception that reading it raises."""
    cdef PyObject **place = place_of(&leaf.layout, owner)
    if place is not NULL and place[0] is not NULL:
        return <object> place[0]
    return looked_up(leaf, <object> owner)


cdef object looked_up(Leaf *leaf, owner):
    try:
        value = PyObject_GetAttr(owner, <object> leaf.name)
    except Exception as error:
        return without_frame(error)
    learn(&leaf.layout, owner, <str> leaf.name)
    return value


cdef inline bint is_usual(Leaf *leaf, value):
    """Whether a value is complete as it is. Not for kind OTHER."""
    cdef int overflow
    cdef long number
    if leaf.kind == STRING:
        return type(value) is str or (value is None and not leaf.nonnull)
    if value is None:
        return not leaf.nonnull
    if leaf.kind == ID:
        return type(value) is str or type(value) is int
    if leaf.kind == INT:
        if type(value) is not int:
            return False
        number = PyLong_AsLongAndOverflow(value, &overflow)
        return not overflow and -(1 << 31) <= number < 1 << 31
    if leaf.kind == BOOLEAN:
        return type(value) is bool
    return type(value) is float and <double> value - <double> value == 0.0  # finite


cdef class Keys:
    """The texts before each field of an object, and after the last."""

    def __init__(self, list before, bytes last):
        cdef int i
        cdef bytes text
        self.before, self.last, self.count = [], last, len(before)
        self.texts = <Key *> PyMem_Malloc((self.count + 1) * sizeof(Key))
        if self.texts is NULL:
            raise MemoryError
        for i in range(self.count):
            text = before[i] + bytes(WORDS)
            self.before.append(text)
            self.texts[i].text, self.texts[i].size = PyBytes_AS_STRING(text), len(before[i])

    def __dealloc__(self):
        PyMem_Free(self.texts)


cdef class TableWriter:
    """Writes a row of a root table, with everything below it. Lists and objects that are being written are
    on a stack of frames, so that the writer can stop after any object."""

    def __init__(self, Table root, Py_ssize_t row=0):
        self.root = root
        make_room(&self.out, ROOM)
        self.push(root, keys_of(root), row, 0)

    def __dealloc__(self):
        PyMem_Free(self.frames)
        PyMem_Free(self.out.data)

    cpdef bytes take(self):
        """Returns the text that was written since the last call."""
        made = PyBytes_FromStringAndSize(self.out.data, self.out.size)
        self.out.size = 0
        return made

    cpdef bint step(self, Py_ssize_t objects, Py_ssize_t size) except -1:
        """Write on, until this number of objects and items has begun, or the text since the last
        `take` has `size` bytes. Returns whether anything is left to be written."""
        cdef Frame *frame
        cdef Key *key
        cdef PyObject *column
        cdef PyObject **columns
        cdef Py_ssize_t row
        cdef int count
        while self.depth:
            frame = &self.frames[self.depth - 1]
            columns = PySequence_Fast_ITEMS((<Table> frame.table).columns)
            if frame.keys is NULL:
                column = columns[0]
                if frame.row == frame.stop:
                    put(&self.out, "]", 1)
                    self.depth -= 1
                    continue
                row = frame.row
                frame.row += 1
                if frame.field:
                    put(&self.out, ",", 1)
                frame.field = 1
                objects -= 1
                self.put_column(column, row)
                if objects < 0 or self.out.size >= size:
                    return True
                continue
            count, row = (<Keys> frame.keys).count, frame.row
            while True:
                if frame.field == count:
                    put_bytes(&self.out, (<Keys> frame.keys).last)
                    self.depth -= 1
                    break
                key = &(<Keys> frame.keys).texts[frame.field]
                make_room(&self.out, key.size + WORDS)
                copy_words(self.out.data + self.out.size, key.text, key.size)
                self.out.size += key.size
                column = columns[frame.field]
                frame.field += 1
                if (<Column> column).kind <= ID_COLUMN:
                    put_leaf(&self.out, (<Column> column).kind, value_at(column, row))
                    if self.out.size >= size:  # one object may have many long texts
                        return True
                else:
                    objects -= 1
                    self.put_column(column, row)
                    break
            if objects < 0 or self.out.size >= size:
                return True
        return False

    cdef int put_column(self, PyObject *column, Py_ssize_t row) except -1:
        """Write a value, or begin to write an object or a list."""
        cdef Table table
        cdef int kind = (<Column> column).kind
        if kind <= ID_COLUMN:
            return put_leaf(&self.out, kind, value_at(column, row))
        value = <object> value_at(column, row)
        if value is None:
            return put(&self.out, "null", 4)
        if kind == ABSTRACT_COLUMN:
            table = <Table> (<tuple> value)[0]
            return self.push(table, keys_of(table), (<tuple> value)[1], 0)
        below = (<Column> column).below
        table = <Table> (<list> below)[0] if below is not None else None
        if kind == OBJECT_COLUMN:
            return self.push(table, keys_of(table), value, 0)
        put(&self.out, "[", 1)
        return self.push(table, None, (<tuple> value)[0], (<tuple> value)[1])

    cdef int push(self, Table table, Keys keys, Py_ssize_t row, Py_ssize_t stop) except -1:
        cdef Frame *frame
        if self.depth == self.room:
            self.room = 2 * self.room + 16
            frame = <Frame *> PyMem_Realloc(self.frames, self.room * sizeof(Frame))
            if frame is NULL:
                raise MemoryError
            self.frames = frame
        frame = &self.frames[self.depth]
        self.depth += 1
        frame.table, frame.row, frame.stop, frame.field = <PyObject *> table, row, stop, 0
        frame.keys = NULL if keys is None else <PyObject *> keys
        if keys is not None and row + 1 < table.count:
            fetch_row(table, row + 1)
        return 0


cdef inline void fetch_row(Table table, Py_ssize_t row) noexcept:
    """Prefetch the leaves of the object that is probably written next from this table. Other
    objects were read since the leaves were."""
    cdef PyObject **columns = PySequence_Fast_ITEMS(table.columns)
    cdef Py_ssize_t i
    for i in range(PyList_GET_SIZE(<PyObject *> table.columns)):
        if (<Column> columns[i]).kind <= ID_COLUMN:
            fetch_leaf(value_at(columns[i], row))


cdef inline PyObject *value_at(PyObject *column, Py_ssize_t row) noexcept:
    return PyList_GET_ITEM(<PyObject *> (<Column> column).values, row)


cdef inline Keys keys_of(Table table):
    if table.shape.keys is None:
        table.shape.keys = table.shape.new_keys()
    return <Keys> table.shape.keys


cdef inline int put_leaf(Text *out, int kind, PyObject *leaf) except -1:
    """Write a completed value."""
    cdef Py_ssize_t size
    cdef const char *text
    if is_string(leaf):
        text = utf8_or_null(leaf, &size)
        if text is NULL:  # it has half of a surrogate pair
            return put_bytes(out, dumps(<object> leaf))
        return put_text(out, text, size)
    if leaf is <PyObject *> None:
        return put(out, "null", 4)
    return put_other(out, kind, <object> leaf)


cdef inline int put_text(Text *out, const char *text, Py_ssize_t size) except -1:
    cdef char *at
    make_room(out, size + 2)
    at = out.data + out.size
    at[0] = c'"'
    if not copied_plain(at + 1, text, size):
        return put_escaped(out, <const unsigned char *> text, size)
    at[1 + size] = c'"'
    out.size += size + 2
    return 0


cdef int put_other(Text *out, int kind, value) except -1:
    cdef int overflow
    cdef long number
    if type(value) is int:
        if kind == ID_COLUMN:
            return put_string(out, str(value))
        number = PyLong_AsLongAndOverflow(value, &overflow)
        return put_bytes(out, dumps(value)) if overflow else put_int(out, number)
    if type(value) is float:
        return put_bytes(out, dumps_float(value))
    if value is True:
        return put(out, "true", 4)
    if value is False:
        return put(out, "false", 5)
    return put_bytes(out, dumps(value))
