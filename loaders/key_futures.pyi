from loaders.single_keys import SingleKeyBatch as SingleKeyBatch
from loaders.single_keys import assign_slots as assign_slots
