// Create a pin from the address of a picture or a page.
import { useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { session } from "../api/viewer";
import { createPin } from "../changes/pins";
import { BoardPicker } from "../components/BoardPicker";

export function NewPinScreen() {
  const [title, setTitle] = useState("");
  const [picture, setPicture] = useState("");
  const [link, setLink] = useState("");
  if (!session) return <h1>Sign in to create a pin</h1>;

  const create = async (boardId: string) => {
    const image = picture.trim() ? { url: picture.trim() } : null;
    const done = await make(createPin, { boardId, title: title.trim(), link: link.trim() || null, image });
    const pin = done?.createPin?.pin;
    if (pin) navigate(`/pin/${pin.id}`);
  };

  const field = (label: string, value: string, set: (value: string) => void, hint?: string) => (
    <label class="field">
      <span>{label}</span>
      <input value={value} placeholder={hint} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
  return (
    <div class="narrow">
      <h1>Create a pin</h1>
      {field("Title", title, setTitle)}
      {field("Address of the picture", picture, setPicture, "https://… or /images/…")}
      {field("Link", link, setLink, "https://…")}
      <h2>Choose its board</h2>
      <BoardPicker onChoose={(boardId) => void create(boardId)} />
    </div>
  );
}
