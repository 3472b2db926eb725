"""The people of the demo: curators, their followers, and the viewer `demo`."""

import random
from typing import NamedTuple

CURATORS, PEOPLE = 40, 300
VIEWER = "demo"

_FIRST = (
    "Maya Tomas Aiko Lena Omar Priya Jonas Sofia Mateo Ines Kofi Nadia Elias Yuki Clara Rafael "
    "Amara Felix Hana Luca Zoe Viktor Leila Hugo Noor Oscar Freya Diego Mina Anton Salma Theo "
    "Ingrid Paulo Wei Greta Samir Alma Emil Chloe Arjun Marta Kenji Olga Bruno Thandi Nils Rosa"
)
_LAST = (
    "Chen Okafor Lindqvist Moreau Haddad Sharma Weber Rossi Alvarez Novak Mensah Petrova Berg "
    "Tanaka Fischer Costa Diallo Keller Kim Bianchi Jensen Orlov Rahimi Dubois Nasser Holm Silva "
    "Park Ivanova Larsen Farouk Papadopoulos Dahl Santos Zhang Lang Aziz Lopez Nyberg Martin"
)
_ABOUT = (
    "Collects marks the way others collect stamps.",
    "Graphic designer by day, kerning complaints by night.",
    "If it has a wordmark, I have an opinion.",
    "Front-end developer with a soft spot for favicons.",
    "Teaches color theory. Yes, that is my favorite blue.",
    "Sketchbooks, stickers and conference lanyards.",
    "Brand archaeologist.",
    "Always looking for the perfect grid.",
    "I pin things so that I can find them again.",
    "",
)


class Person(NamedTuple):
    username: str
    full_name: str
    about: str


def people(rng: random.Random) -> list[Person]:
    """All people, curators first, the viewer last; user names are unique."""
    pairs = [(first, last) for first in _FIRST.split() for last in _LAST.split()]
    rng.shuffle(pairs)
    found = [
        Person(f"{first}_{last}".lower(), f"{first} {last}", rng.choice(_ABOUT))
        for first, last in pairs[: PEOPLE - 1]
    ]
    return [*found, Person(VIEWER, "Demo Viewer", "That is you: look around, and move things.")]
