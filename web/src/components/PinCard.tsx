// A pin in a wall of pins: its picture, title, owner and, in a feed, the reason why it is shown.
import { useFragment } from "@apollo/client/react";
import { Link } from "wouter-preact";
import { useState } from "preact/hooks";
import { graphql } from "../gen";
import { hide } from "../feed/hide";
import { useSeen } from "../feed/seen";
import { Avatar } from "./Avatar";
import { LikeButton } from "./LikeButton";
import { Picture } from "./Picture";
import { SaveDialog } from "./SaveDialog";

export const PinCardFragment = graphql(`
  fragment PinCard on Pin {
    id
    title
    link
    image {
      url
      width
      height
      dominantColor
    }
    likeCount
    viewerHasLiked
    owner {
      id
      username
      fullName
      avatar {
        url
      }
    }
  }
`);

interface Props {
  id: string;
  reason?: string;
  eager?: boolean;
  canHide?: boolean;
}

// The card reads its pin from the cache, not from the list around it: a like redraws one card,
// however long the list is.
export function PinCard({ id, reason, eager, canHide }: Props) {
  const { data: pin, complete } = useFragment({ fragment: PinCardFragment, from: { __typename: "Pin", id } });
  const [saving, setSaving] = useState(false);
  const card = useSeen<HTMLElement>(id, complete);
  if (!complete) return <MissingCard />;
  const onHide = () => hide(id, pin.owner && { id: pin.owner.id, name: pin.owner.fullName || pin.owner.username });
  return (
    <article class="card" ref={card}>
      <div class="card-frame">
      <Link href={`/pin/${id}`} class="card-picture" aria-label={pin.title || "A pin without a title"}>
        <Picture image={pin.image} alt="" eager={eager} />
      </Link>
      <div class="card-tools">
        <button type="button" class="primary save" onClick={() => setSaving(true)}>
          Save<span class="visually-hidden"> {pin.title}</span>
        </button>
        <LikeButton id={id} title={pin.title} likeCount={pin.likeCount} liked={pin.viewerHasLiked ?? false} />
        {canHide && (
          <button type="button" class="icon" onClick={onHide} title="Hide this pin in your home feed">
            <span aria-hidden="true">✕</span>
            <span class="visually-hidden">Hide {pin.title}</span>
          </button>
        )}
      </div>
      </div>
      <div class="card-words">
        <p class="card-title">{pin.title}</p>
        <p class="card-owner">
          {pin.owner ? (
            <Link href={`/user/${pin.owner.username}`}>
              <Avatar avatar={pin.owner.avatar} name={pin.owner.fullName || pin.owner.username} size={22} />
              {pin.owner.fullName || pin.owner.username}
            </Link>
          ) : (
            "Somebody"
          )}
        </p>
        {reason && <p class="card-reason">{reason}</p>}
      </div>
      {saving && <SaveDialog pinId={id} title={pin.title} onClose={() => setSaving(false)} />}
    </article>
  );
}

// Shown in place of a pin whose server does not answer.
export function MissingCard() {
  return (
    <article class="card missing">
      <div class="card-picture">
        <p>This pin can't be shown right now. It will be back when its server answers.</p>
      </div>
    </article>
  );
}
