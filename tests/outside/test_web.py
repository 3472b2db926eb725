"""The web client in a real browser: feeds, boards, two tabs, and every screen's accessibility."""

import base64
import io
import json
import zipfile
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.outside.node_tools import ensure_chromium, run_client

LIMIT = 3000
"""Seconds for the whole visit, which the first test waits for."""
pytestmark = pytest.mark.timeout(LIMIT + 300)


@pytest.fixture(scope="module")
def seen(gateway_url: str, demo_token: str) -> dict[str, Any]:
    """The results of one visit: see tests/outside/node/web.mjs."""
    return run_client("web", gateway_url, demo_token, limit=LIMIT, CHROMIUM=str(ensure_chromium()))


def test_the_client_asks_no_other_host_and_nothing_fails(
    seen: dict[str, Any], gateway_url: str
) -> None:
    assert seen["hosts"] == [urlsplit(gateway_url).netloc]
    assert seen["pageErrors"] == []
    # The one request whose answer is lost on purpose.
    assert len([line for line in seen["console"] if "ERR_CONNECTION_RESET" not in line]) == 0


def test_pages_of_the_home_feed_hold_no_pin_twice_and_few_cards_are_in_the_document(
    seen: dict[str, Any],
) -> None:
    scroll = seen["scroll"]
    assert scroll["pages"] >= 5
    assert len(set(scroll["pins"])) == len(scroll["pins"]) >= 75
    assert scroll["mostInDocument"] < 100
    assert set(scroll["reasons"]) <= {
        "You follow this person",
        "You follow this board",
        "You follow this topic",
        "Like what you saved",
        "Popular",
        "Seen before",
    }


def test_the_feed_that_is_asked_for_early_is_not_asked_for_again(seen: dict[str, Any]) -> None:
    assert len(seen["scroll"]["begun"]) == 1


def test_dragged_pins_move_at_once_with_one_mutation_in_both_tabs_and_stay(
    seen: dict[str, Any],
) -> None:
    board = seen["board"]
    assert board["before"] == ["one", "two", "three", "four", "five"]
    assert board["atOnce"] == board["dragged"] == ["two", "three", "four", "five", "one"]
    assert board["draggedTwo"] == ["four", "five", "one", "two", "three"]
    assert board["reloaded"] == ["five", "one", "four", "two", "three"]
    assert board["mutations"] == 3


def test_a_refused_drag_is_undone(seen: dict[str, Any]) -> None:
    assert seen["board"]["afterRefusal"] == ["five", "one", "four", "two", "three"]


def test_a_lost_answer_is_asked_for_again_with_the_same_key(seen: dict[str, Any]) -> None:
    first, second = seen["board"]["keysOfLostAnswer"]
    assert first == second
    assert seen["board"]["afterLostAnswer"] == ["one", "four", "two", "five", "three"]


def test_following_somebody_changes_the_feed_and_their_new_pins_are_announced(
    seen: dict[str, Any],
) -> None:
    assert seen["follow"] == {"owner": "Leila Nasser", "words": "1 new pin"}


def test_a_newcomer_follows_somebody_makes_a_board_drags_a_pin_and_finds_it_there(
    seen: dict[str, Any],
) -> None:
    join = seen["join"]
    assert join["before"] == []
    assert join["owners"] == [join["name"]]
    assert join["kept"] is True


def test_a_pins_page_shows_related_pins_and_takes_likes_and_comments(seen: dict[str, Any]) -> None:
    pin = seen["pins"]["pin"]
    assert sorted(pin["related"]) == ["beta", "gamma"]
    assert pin["liked"] == "true"
    assert [comment.split() for comment in pin["comments"]] == [["Demo", "Viewer", "Lovely"]]
    assert pin["stored"]["viewerHasLiked"] is True
    assert pin["stored"]["commentCount"] == 1


def test_a_pin_is_saved_to_a_board(seen: dict[str, Any]) -> None:
    saved = seen["pins"]["saved"]
    assert saved["stored"] == [saved["title"]]


def test_a_hidden_pin_comes_back_when_undone_and_stays_hidden_over_a_reload(
    seen: dict[str, Any],
) -> None:
    hidden = seen["pins"]["hidden"]
    assert len(hidden["after"]) > 3
    assert hidden["id"] not in hidden["after"]


def test_pins_move_to_another_board_one_and_several(seen: dict[str, Any]) -> None:
    moved = seen["pins"]["moved"]
    assert moved == {"link": 1, "left": 0, "stored": ["alpha", "beta", "gamma"]}


def test_a_pin_is_created_by_address_from_a_picture_and_by_an_upload(seen: dict[str, Any]) -> None:
    made, url = seen["pins"]["created"], seen["pins"]["image"]
    assert [pin["title"] for pin in made] == ["By address", "From a picture", "Of one's own"]
    assert [pin["board"]["name"] for pin in made] == [seen["pins"]["elsewhere"]] * 3
    assert [pin["image"]["url"] for pin in made[:2]] == [url] * 2
    own = made[2]["image"]
    assert "/images/uploads/" in own["url"]
    assert (own["width"], own["height"]) == (20, 40)
    assert all(pin["image"]["width"] > 0 < pin["image"]["height"] for pin in made)


def test_a_secret_board_says_so_and_nobody_else_finds_it(seen: dict[str, Any]) -> None:
    assert seen["pins"]["secret"] == {
        "badge": "Secret",
        "title": "Secret: only you see it",
        "absent": [f"There is no such {what}" for what in ("board", "pin", "pin", "board")],
    }


def test_a_profile_and_a_board_are_edited_and_the_board_is_deleted(seen: dict[str, Any]) -> None:
    edits = seen["edits"]
    assert edits["heading"] == edits["now"]["fullName"] == "Somebody Else"
    assert (edits["now"]["email"], edits["left"]) == ("Somebody@example.org", None)
    assert edits["now"]["about"] == "Bakes.\nReads."
    assert edits["changed"] == {"name": "Cake", "description": "Sweet.", "secret": True}
    assert edits["shown"].startswith("Cake")
    assert "Secret" in edits["shown"]
    assert edits["asked"] == "Delete the board and its 2 pins? This can't be undone."
    assert edits["at"] is True
    assert (edits["listed"], edits["boards"]) == (False, 0)
    assert edits["broken"] == []


def test_a_board_is_shared_and_the_collaborator_orders_its_pins_and_leaves(
    seen: dict[str, Any],
) -> None:
    members = seen["members"]
    assert (members["accepted"], members["left"], members["invited"]) == ("COLLABORATOR", None, 0)
    assert (members["mayOrder"], members["maySelect"]) == (2, 0)
    assert members["broken"] == []


def test_an_owner_arranges_a_board_in_sections(seen: dict[str, Any]) -> None:
    sections = seen["sections"]
    assert sections["added"] == [["Cakes"], ["Soups"]]
    assert sections["ordered"] == [["Soups"], ["Cakes"]]
    assert sections["focus"].endswith("Move Cakes down")
    assert sections["filled"] == sections["storedFilled"] == [["Soups", "two", "one"], ["Tarts"]]
    assert sections["afterDeletedPin"].startswith("Soups\n0 pins")
    assert sections["asked"] == "Delete the section? Its pins stay on the board."
    assert sections["left"] == sections["storedLeft"] == [["Soups"]]
    assert sections["onBoard"] == ["a stranger's", "made here", "one", "three"]
    assert sections["broken"] == []


def test_a_collaborator_moves_a_pin_to_another_section_and_out_of_it(seen: dict[str, Any]) -> None:
    guest = seen["sections"]["guest"]
    assert guest["moved"] == [["Soups", "two"], ["Tarts", "one"]]
    assert guest["back"] == guest["storedBack"] == [["Soups", "two"], ["Tarts"]]
    assert guest["buttons"] == 3


def test_a_stranger_sees_the_sections_and_changes_nothing(seen: dict[str, Any]) -> None:
    stranger = seen["sections"]["stranger"]
    assert stranger == {"sections": [["Soups", "two"], ["Tarts"]], "buttons": 0}


def test_a_pin_is_saved_and_created_in_a_section(seen: dict[str, Any]) -> None:
    sections = seen["sections"]
    assert sections["saved"] == [["Soups", "two"], ["Tarts", "a stranger's"]]
    assert sections["created"] == [["Soups", "two"], ["Tarts", "made here", "a stranger's"]]


def test_a_person_is_muted_and_blocked_and_unblocked_on_the_own_profile(
    seen: dict[str, Any],
) -> None:
    apart = seen["apart"]
    assert (apart["muted"], apart["unmuted"]) == (True, False)
    assert (apart["hidden"], apart["back"]) == (None, False)
    assert apart["asked"].startswith("Block NAME? You won't see each other anywhere")
    assert apart["absent"] == "There is no such person"
    assert apart["ended"] == ["Muted", "Hidden pins", "Less in your home feed"]
    assert apart["left"] == []
    assert apart["broken"] == []


def test_a_user_name_is_changed_and_the_old_address_leads_to_the_new_one(
    seen: dict[str, Any],
) -> None:
    assert seen["account"]["renamed"] == {"kept": True, "led": True}


def test_sign_out_everywhere_signs_out_another_device(seen: dict[str, Any]) -> None:
    assert seen["account"]["signedOut"] == {"broken": [], "left": None}


def test_an_account_is_deleted_after_its_name_was_typed(seen: dict[str, Any]) -> None:
    account = seen["account"]
    assert account["before"] is True  # no account is deleted by one click
    assert account["left"] == {"user": None, "board": None}
    assert account["status"] == 401
    assert account["broken"] == []


def test_what_a_person_saw_and_opened_is_sent_at_once_when_the_page_is_left_and_can_be_deleted(
    seen: dict[str, Any],
) -> None:
    events = seen["events"]
    assert (events["soon"], events["calls"], events["errors"]) == (0, 1, [])
    assert events["events"] == ["0 LINK_FOLLOWED", "0 OPENED", "0 SEEN", "1 OPENED"]
    assert events["words"] == "What was recorded is deleted."


def test_the_bell_counts_what_comes_and_the_list_marks_it_as_read(seen: dict[str, Any]) -> None:
    noticed = seen["notifications"]
    assert [kind for kind, _ in noticed["shown"]] == ["fresh", "fresh"]
    like, comment = sorted(text for _, text in noticed["shown"])
    assert comment == "Rosa Aziz commented on A heron: What a bird!"
    assert like == "Demo Viewer and 1 other like A heron"
    assert (noticed["left"], noticed["fresh"]) == (0, 0)


def test_a_user_requests_and_loads_their_own_data_by_the_keyboard(seen: dict[str, Any]) -> None:
    told = seen["exports"]
    archive = base64.b64decode(told["zip"])
    assert len(archive) == told["bytes"]
    assert told["name"] == f"pinway-data-{told['requestedAt'][:10]}.zip"
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        [account] = json.loads(opened.read("account.json"))
        [board] = json.loads(opened.read("boards.json"))
        [pin] = json.loads(opened.read("pins.json"))
    assert account["username"] == told["username"]
    assert (board["id"], board["name"]) == (told["board"], "Own things")
    assert (pin["board"], pin["title"]) == (told["board"], "A lamp")
    assert told["broken"] == []


def test_each_state_of_a_file_is_told_in_place_and_a_notification_leads_to_it(
    seen: dict[str, Any],
) -> None:
    told, states = seen["exports"], seen["exports"]["states"]
    works = {name: state["works"] for name, state in states.items()}
    assert works == {
        "unread": [False, False],
        "none": [True, False],
        "pending": [False, False],
        "ready": [True, True],
        "refused": [True, True],
        "expired": [True, False],
        "failed": [True, False],
        "linked": [True, True],
    }
    size = f"{told['bytes'] / 1000:.1f}".removesuffix(".0")
    ready = f"Your file is ready: {size} kB. It is kept until {told['times']['end']}."
    assert states["ready"]["words"] == states["linked"]["words"] == ready
    again = [f"Try again from {time} on." for time in told["times"]["again"]]
    assert states["refused"]["words"].startswith(ready)
    assert any(states["refused"]["words"].endswith(words) for words in again)
    places = [state["places"] for state in states.values()]
    assert places == [places[0]] * len(places)  # no text moves the buttons
    assert (told["kept"], told["back"]) == ("Request a file", "Download your data…")
    assert told["reopened"] == [True, True]
    assert told["address"] == f"/user/{told['username']}"


def test_a_pin_a_board_a_comment_and_a_person_are_reported_and_nothing_of_ones_own(
    seen: dict[str, Any],
) -> None:
    told = seen["reports"]
    assert [(it["is"], it["reason"], it["text"]) for it in told["sent"]] == [
        ("pin", "SPAM", "It sells tea."),
        ("comment", "HARASSMENT", ""),
        ("board", "COPYRIGHT", ""),
        ("user", "ADULT", ""),  # by the keyboard alone
    ]
    assert all(it["reported"] == it["id"] for it in told["sent"])
    assert told["kept"] is True  # without a reason, nothing is sent
    assert told["focus"].startswith("Report")  # where it was before the dialog
    assert told["own"] == [0, 0, 0]
    assert told["broken"] == []


def test_the_keyboard_alone_signs_in_follows_makes_a_board_and_orders_its_pins(
    seen: dict[str, Any],
) -> None:
    keys = seen["keys"]
    assert keys["follows"] == f"Following {keys['followed']}"
    assert keys["back"] is True
    assert len(keys["before"]) == 2
    assert keys["after"] == keys["before"][::-1]
    assert keys["lost"] == []


def test_a_search_finds_what_is_new_with_the_keyboard_and_with_the_mouse(
    seen: dict[str, Any],
) -> None:
    search = seen["search"]
    word, board = search["word"], search["board"]
    assert len(search["suggested"]) == 3
    assert search["marked"] == [word]
    assert [state["expanded"] for state in search["states"]] == ["true", "true", "true", "false"]
    assert [state["active"] for state in search["states"]] == [None, "true", None, None]
    assert search["broken"] == []
    assert search["opened"] == search["clicked"] == f"/board/{board['id']}"
    results = search["results"]
    assert sorted(results["pins"]) == sorted(board["pins"])
    assert results["boards"] == [f"Ponds of {word}"]
    assert results["title"] == f"Search: {word} · Pinway"
    assert results["box"] == search["back"] == word
    assert results["broken"] == []
    assert results["elements"] == 0, "a text is no markup"


def test_every_screen_keeps_the_rules_of_accessibility_wide_and_narrow_in_light_and_dark(
    seen: dict[str, Any],
) -> None:
    assert seen["looks"] == {}
