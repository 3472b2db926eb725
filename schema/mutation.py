"""The mutations. Each mutation takes one input and returns one payload."""

import strawberry

from resolvers.mutations import (
    blocks,
    boards,
    collaborators,
    edges,
    events,
    notifications,
    people,
    pins,
    preferences,
    reports,
    sections,
    sessions,
    uploads,
)
from schema import inputs, payloads
from schema.costs import A_WRITE, Toll, reads
from schema.fields import mutation

_WRITING = reads(40, each=20)
WRITE = [*_WRITING, Toll(weight=str(A_WRITE))]
SIGN_UP = [*_WRITING, Toll(weight="30000")]
"""The cost of a sign-up. The default limits allow one in a request, 33 at once, and one every three
seconds for an address."""


@strawberry.type(
    description="All writes. Everybody can read what a payload holds as soon as it arrives; the "
    "description of the payload says what follows later. A payload is null when nobody is signed "
    "in or a store failed: the error's code says which of the two."
)
class Mutation:
    sign_up: payloads.SignUpPayload | None = mutation(
        people.sign_up,
        "Create a user. The client must not be signed in; an address may create a few users. With "
        "a token of another issuer whose subject has no user, the new user is the subject's.",
        input=inputs.SignUpInput,
        cost=SIGN_UP,
    )
    update_profile: payloads.UpdateProfilePayload | None = mutation(
        people.update_profile,
        "Change the viewer's profile.",
        input=inputs.UpdateProfileInput,
        cost=WRITE,
    )
    change_user_name: payloads.ChangeUserNamePayload | None = mutation(
        people.change_user_name,
        "Change the viewer's user name, a few times a day. For 30 days, the old name stays the "
        "viewer's, and links by it lead to the viewer; then it is free for others.",
        input=inputs.ChangeUserNameInput,
        cost=WRITE,
    )
    change_email: payloads.ChangeEmailPayload | None = mutation(
        people.change_email,
        "Change or remove the viewer's e-mail address, a few times a day. Nobody else sees it, and "
        "nobody else may have it. For 30 days, the old address stays the viewer's.",
        input=inputs.ChangeEmailInput,
        cost=WRITE,
    )
    link_subject: payloads.LinkSubjectPayload | None = mutation(
        people.link_subject,
        "Let the viewer sign in by the tokens of a subject of another issuer, in place of the "
        "subject before. For 30 days, the old subject stays the viewer's.",
        input=inputs.LinkSubjectInput,
        cost=WRITE,
    )
    unlink_subject: payloads.UnlinkSubjectPayload | None = mutation(
        people.unlink_subject,
        "Let the viewer sign in by no subject. The request needs a token of this server. For 30 "
        "days, the subject stays the viewer's: it can sign up no other user.",
        input=inputs.UnlinkSubjectInput,
        cost=WRITE,
    )
    sign_out_everywhere: payloads.SignOutEverywherePayload | None = mutation(
        sessions.sign_out_everywhere,
        "Refuse all tokens of the viewer that were issued before, on all devices.",
        input=inputs.SignOutEverywhereInput,
        cost=WRITE,
    )
    refresh_token: payloads.RefreshTokenPayload | None = mutation(
        sessions.refresh_token,
        "Get a new token before the gateway's own token expires, in the second half of its life. "
        "Each call gives another token, whatever its idempotency key.",
        input=inputs.RefreshTokenInput,
        cost=WRITE,
    )
    request_my_data: payloads.RequestMyDataPayload | None = mutation(
        people.request_my_data,
        "Request a file with all data that is kept about the viewer, once a day. "
        "`User.dataExport` has its address.",
        input=inputs.RequestMyDataInput,
        cost=WRITE,
    )
    delete_account: payloads.DeleteAccountPayload | None = mutation(
        people.delete_account,
        "Delete the viewer's account and all that belongs to it, for good. The user name is free "
        "again after 30 days.",
        input=inputs.DeleteAccountInput,
        cost=WRITE,
    )
    create_board: payloads.CreateBoardPayload | None = mutation(
        boards.create_board, "Create a board.", input=inputs.CreateBoardInput, cost=WRITE
    )
    update_board: payloads.UpdateBoardPayload | None = mutation(
        boards.update_board, "Change a board.", input=inputs.UpdateBoardInput, cost=WRITE
    )
    delete_board: payloads.DeleteBoardPayload | None = mutation(
        boards.delete_board,
        "Delete a board and its pins.",
        input=inputs.DeleteBoardInput,
        cost=WRITE,
    )
    create_pin: payloads.CreatePinPayload | None = mutation(
        pins.create_pin,
        "Save a new pin on top of a board.",
        input=inputs.CreatePinInput,
        cost=WRITE,
    )
    update_pin: payloads.UpdatePinPayload | None = mutation(
        pins.update_pin, "Change a pin.", input=inputs.UpdatePinInput, cost=WRITE
    )
    delete_pin: payloads.DeletePinPayload | None = mutation(
        pins.delete_pin, "Delete a pin.", input=inputs.DeletePinInput, cost=WRITE
    )
    repin: payloads.RepinPayload | None = mutation(
        pins.repin,
        "Save a pin of any user to a board that the viewer owns or collaborates on.",
        input=inputs.RepinInput,
        cost=WRITE,
    )
    like_pin: payloads.LikePinPayload | None = mutation(
        edges.like_pin, "Like a pin.", input=inputs.LikePinInput, cost=WRITE
    )
    unlike_pin: payloads.LikePinPayload | None = mutation(
        edges.unlike_pin, "Unlike a pin.", input=inputs.LikePinInput, cost=WRITE
    )
    hide_pin: payloads.HidePinPayload | None = mutation(
        preferences.hide_pin,
        "Hide a pin and its repins in the viewer's home feed. Of more than 1,000 hidden pictures, "
        "the oldest is shown again.",
        input=inputs.HidePinInput,
        cost=WRITE,
    )
    unhide_pin: payloads.HidePinPayload | None = mutation(
        preferences.unhide_pin,
        "Show a hidden pin and its repins again.",
        input=inputs.HidePinInput,
        cost=WRITE,
    )
    see_less: payloads.FeedPreferencePayload | None = mutation(
        preferences.see_less,
        "See less of a user, a board or an interest in the viewer's home feed; of 200, at most.",
        input=inputs.FeedPreferenceInput,
        cost=WRITE,
    )
    see_more: payloads.FeedPreferencePayload | None = mutation(
        preferences.see_more,
        "See more of a user, a board or an interest in the viewer's home feed; of 200, at most.",
        input=inputs.FeedPreferenceInput,
        cost=WRITE,
    )
    see_as_usual: payloads.FeedPreferencePayload | None = mutation(
        preferences.see_as_usual,
        "End `seeLess` or `seeMore` of a user, a board or an interest.",
        input=inputs.FeedPreferenceInput,
        cost=WRITE,
    )
    create_comment: payloads.CreateCommentPayload | None = mutation(
        pins.create_comment, "Comment on a pin.", input=inputs.CreateCommentInput, cost=WRITE
    )
    delete_comment: payloads.DeleteCommentPayload | None = mutation(
        pins.delete_comment, "Delete a comment.", input=inputs.DeleteCommentInput, cost=WRITE
    )
    follow_user: payloads.FollowUserPayload | None = mutation(
        edges.follow_user, "Follow a user.", input=inputs.FollowUserInput, cost=WRITE
    )
    unfollow_user: payloads.FollowUserPayload | None = mutation(
        edges.unfollow_user, "Unfollow a user.", input=inputs.FollowUserInput, cost=WRITE
    )
    block_user: payloads.BlockUserPayload | None = mutation(
        blocks.block_user,
        "Block a user: neither sees the other anywhere, nor anything of the other. A viewer may "
        "block 1,000 users.",
        input=inputs.BlockUserInput,
        cost=WRITE,
    )
    unblock_user: payloads.BlockUserPayload | None = mutation(
        blocks.unblock_user, "Unblock a user.", input=inputs.BlockUserInput, cost=WRITE
    )
    invite_collaborator: payloads.CollaboratorPayload | None = mutation(
        collaborators.invite_collaborator,
        "Invite a user to a board of the viewer. A collaborator sees the board also if it is "
        "secret, adds and orders pins, and changes, moves and deletes the pins that they added. A "
        "board has 100 collaborators and invited users at most.",
        input=inputs.CollaboratorInput,
        cost=WRITE,
    )
    remove_collaborator: payloads.CollaboratorPayload | None = mutation(
        collaborators.remove_collaborator,
        "Remove a collaborator from a board of the viewer, or take an invitation back. The pins "
        "that the user added stay.",
        input=inputs.CollaboratorInput,
        cost=WRITE,
    )
    accept_invitation: payloads.MembershipPayload | None = mutation(
        collaborators.accept_invitation,
        "Become a collaborator of a board to which the viewer is invited; of 500, at most.",
        input=inputs.MembershipInput,
        cost=WRITE,
    )
    decline_invitation: payloads.MembershipPayload | None = mutation(
        collaborators.decline_invitation,
        "Decline an invitation to a board.",
        input=inputs.MembershipInput,
        cost=WRITE,
    )
    leave_board: payloads.MembershipPayload | None = mutation(
        collaborators.leave_board,
        "Stop collaborating on another user's board. The pins that the viewer added stay.",
        input=inputs.MembershipInput,
        cost=WRITE,
    )
    mute_user: payloads.MuteUserPayload | None = mutation(
        preferences.mute_user,
        "Keep a user's pins out of the viewer's feeds. A viewer may mute 1,000 users.",
        input=inputs.MuteUserInput,
        cost=WRITE,
    )
    unmute_user: payloads.MuteUserPayload | None = mutation(
        preferences.unmute_user,
        "Show a user's pins in the viewer's feeds again.",
        input=inputs.MuteUserInput,
        cost=WRITE,
    )
    create_upload: payloads.CreateUploadPayload | None = mutation(
        uploads.create_upload,
        "Begin to upload a picture of one's own.",
        input=inputs.CreateUploadInput,
        cost=WRITE,
    )
    report: payloads.ReportPayload | None = mutation(
        reports.report,
        "Report a pin, a board, a user or a comment to the operators. A further report of the same "
        "object by the same viewer replaces the first.",
        input=inputs.ReportInput,
        cost=WRITE,
    )
    record_events: payloads.RecordEventsPayload | None = mutation(
        events.record_events,
        "Record what the viewer did with pins, so that the order of home feeds can be learned. "
        "Events are kept for 30 days; `deleteEvents` deletes them.",
        input=inputs.RecordEventsInput,
        cost=WRITE,
    )
    delete_events: payloads.DeleteEventsPayload | None = mutation(
        events.delete_events,
        "Delete all events that `recordEvents` recorded of the viewer.",
        input=inputs.DeleteEventsInput,
        cost=WRITE,
    )
    mark_notifications_read: payloads.MarkNotificationsReadPayload | None = mutation(
        notifications.mark_notifications_read,
        "Mark notifications as read: all, or up to one. A mark is never taken back.",
        input=inputs.MarkNotificationsReadInput,
        cost=WRITE,
    )
    follow_board: payloads.FollowBoardPayload | None = mutation(
        edges.follow_board, "Follow a board.", input=inputs.FollowBoardInput, cost=WRITE
    )
    unfollow_board: payloads.FollowBoardPayload | None = mutation(
        edges.unfollow_board, "Unfollow a board.", input=inputs.FollowBoardInput, cost=WRITE
    )
    follow_interest: payloads.FollowInterestPayload | None = mutation(
        edges.follow_interest, "Follow an interest.", input=inputs.FollowInterestInput, cost=WRITE
    )
    unfollow_interest: payloads.FollowInterestPayload | None = mutation(
        edges.unfollow_interest,
        "Unfollow an interest.",
        input=inputs.FollowInterestInput,
        cost=WRITE,
    )
    reorder_pin: payloads.ReorderPinPayload | None = mutation(
        boards.reorder_pin,
        "Move a pin to another place on its board.",
        input=inputs.ReorderPinInput,
        cost=WRITE,
    )
    reorder_pins: payloads.ReorderPinsPayload | None = mutation(
        boards.reorder_pins,
        "Put many pins of a board in order.",
        input=inputs.ReorderPinsInput,
        cost=WRITE,
    )
    move_pin: payloads.MovePinPayload | None = mutation(
        boards.move_pin, "Move a pin to another board.", input=inputs.MovePinInput, cost=WRITE
    )
    create_section: payloads.CreateSectionPayload | None = mutation(
        sections.create_section,
        "Create a section on top of the sections of a board.",
        input=inputs.CreateSectionInput,
        cost=WRITE,
    )
    rename_section: payloads.RenameSectionPayload | None = mutation(
        sections.rename_section,
        "Give a section another name.",
        input=inputs.RenameSectionInput,
        cost=WRITE,
    )
    reorder_section: payloads.ReorderSectionPayload | None = mutation(
        sections.reorder_section,
        "Move a section to another place on its board.",
        input=inputs.ReorderSectionInput,
        cost=WRITE,
    )
    delete_section: payloads.DeleteSectionPayload | None = mutation(
        sections.delete_section,
        "Delete a section. Its pins stay on the board.",
        input=inputs.DeleteSectionInput,
        cost=WRITE,
    )
    move_pin_to_section: payloads.MovePinToSectionPayload | None = mutation(
        sections.move_pin_to_section,
        "Move a pin into a section of its board, to another place in it, or out of it.",
        input=inputs.MovePinToSectionInput,
        cost=WRITE,
    )
