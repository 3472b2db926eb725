// Creates a pin from a picture of one's own, from the address of a picture, or from a picture of a liked pin.
import { useQuery } from "@apollo/client/react";
import { useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { here } from "../api/images";
import { session } from "../api/viewer";
import { createPin } from "../changes/pins";
import { Field } from "../components/Field";
import { Picture, type PictureImage } from "../components/Picture";
import { type Place, PlacePicker } from "../components/PlacePicker";
import { SignInFirst } from "../components/SignInFirst";
import { announce } from "../components/Toasts";
import { UploadPicture } from "../components/UploadPicture";
import { graphql } from "../gen";
import { useTitle } from "../title";

const Gallery = graphql(`
  query Gallery {
    viewer {
      id
      likedPins(first: 24) {
        edges {
          node {
            id
            title
            image {
              url
              width
              height
              dominantColor
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

export function NewPinScreen() {
  useTitle("Create a pin");
  const [title, setTitle] = useState("");
  const [picture, setPicture] = useState<PictureImage | null>(null);
  const [link, setLink] = useState("");
  if (!session) return <SignInFirst what="create a pin" />;

  const create = async ({ boardId, section }: Place) => {
    if (!picture && !title.trim()) return announce("Give the pin a picture or a title first.", "error");
    const image = picture && (await measured(picture));
    const done = await make(createPin, {
      boardId,
      sectionId: section?.id ?? null,
      title: title.trim(),
      link: link.trim() || null,
      image,
    });
    const pin = done?.createPin?.pin;
    if (pin) navigate(`/pin/${pin.id}`);
  };

  const address = (value: string) => {
    const url = value.trim();
    setPicture(url ? { url, width: null, height: null, dominantColor: null } : null);
  };
  return (
    <div class="create">
      <h1>Create a pin</h1>
      <div class="create-columns">
        <div class="create-picture">
          <Picture key={picture?.url} image={picture} alt={picture ? title || "The chosen picture" : "Your picture shows here"} eager />
        </div>
        <div>
          <Field label="Title" value={title} onChange={setTitle} />
          <UploadPicture label="A picture of yours" onUploaded={setPicture} />
          <Field
            label="Address of the picture"
            value={picture?.url ?? ""}
            onChange={address}
            hint="https://… or /images/…"
          />
          <Choice chosen={picture?.url} onChoose={setPicture} />
          <Field label="Link" value={link} onChange={setLink} hint="https://…" />
          <h2>Choose its board</h2>
          <PlacePicker onChoose={(place) => void create(place)} />
        </div>
      </div>
    </div>
  );
}

interface ChoiceProps {
  chosen: string | undefined;
  onChoose: (image: PictureImage) => void;
}

// Pictures of pins that the viewer likes.
function Choice({ chosen, onChoose }: ChoiceProps) {
  const { data } = useQuery(Gallery);
  const pins = (data?.viewer?.likedPins?.edges ?? []).flatMap(({ node }) => (node?.image ? [node] : []));
  if (!pins.length) return null;
  return (
    <fieldset class="choice">
      <legend>Or a picture that you like</legend>
      {pins.map(({ id, title, image }) => (
        <button
          key={id}
          type="button"
          class="choice-picture"
          aria-pressed={image?.url === chosen}
          aria-label={title || "A picture without a title"}
          onClick={() => image && onChoose(image)}
        >
          <Picture image={image} alt="" />
        </button>
      ))}
    </fieldset>
  );
}

// The picture with its size, so that walls have its shape before it has loaded. The size of another
// host's picture stays unknown, because this page may not load it.
async function measured({ url, width, height, dominantColor }: PictureImage) {
  const address = here(url);
  if (width || !address) return { url, width, height, dominantColor };
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
    return { url, width: image.naturalWidth, height: image.naturalHeight, dominantColor };
  } catch {
    return { url, width, height, dominantColor };
  }
}
