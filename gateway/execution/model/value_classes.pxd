cpdef set classes_of(values)
