// A field that uploads a picture of one's own.
import { useState } from "preact/hooks";
import { TYPES, upload } from "../changes/uploads";
import type { PictureImage } from "./Picture";

interface Props {
  label: string;
  onUploaded: (image: PictureImage) => void;
}

export function UploadPicture({ label, onUploaded }: Props) {
  const [busy, setBusy] = useState(false);
  const send = async (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (!file) return;
    setBusy(true);
    const image = await upload(file);
    setBusy(false);
    input.value = "";
    if (image) onUploaded(image);
  };
  return (
    <label class="field">
      <span>{busy ? "Uploading…" : label}</span>
      <input type="file" accept={TYPES} disabled={busy} onChange={(event) => void send(event.currentTarget)} />
    </label>
  );
}
