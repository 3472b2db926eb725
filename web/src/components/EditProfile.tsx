// A dialog that changes the viewer's profile.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { renameSession } from "../api/session";
import { changeEmail, changeUserName } from "../changes/account";
import { deleteEvents } from "../changes/events";
import { type Profile, updateProfile } from "../changes/profile";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import type { PictureImage } from "./Picture";
import { announce } from "./Toasts";
import { UploadPicture } from "./UploadPicture";

interface Props {
  username: string;
  fullName: string;
  about: string;
  email: string;
  picture: string;
  onClose: () => void;
}

export function EditProfile({ username, fullName, about, email, picture, onClose }: Props) {
  const [userName, setUserName] = useState(username);
  const [name, setName] = useState(fullName);
  const [text, setText] = useState(about);
  const [mail, setMail] = useState(email);
  const [address, setAddress] = useState(picture);
  const [uploaded, setUploaded] = useState<PictureImage | null>(null);
  const save = async (event: Event) => {
    event.preventDefault();
    const wanted: Profile = { fullName: name.trim(), about: text.trim() };
    const url = address.trim();
    // An unchanged picture keeps its size.
    if (url !== picture) wanted.avatar = url ? avatar(url) : null;
    if (!(await make(updateProfile, wanted))) return;
    const wantedMail = mail.trim();
    if (wantedMail !== email && !(await make(changeEmail, { email: wantedMail || null }))) return;
    const wantedName = userName.trim().toLowerCase();
    if (wantedName !== username) {
      if (await make(changeUserName, { username: wantedName })) renameSession(wantedName);
      return;
    }
    onClose();
    announce("Your profile is saved.");
  };
  const avatar = (url: string) =>
    url === uploaded?.url ? uploaded : { url, width: null, height: null, dominantColor: null };
  const choose = (image: PictureImage) => {
    setUploaded(image);
    setAddress(image.url);
  };
  const forget = async () => {
    if (await make(deleteEvents, {})) announce("What was recorded is deleted.");
  };
  return (
    <Dialog title="Edit your profile" onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name" value={name} onChange={setName} />
        <Field label="User name" value={userName} onChange={setUserName} required />
        <p class="quiet">For 30 days after a change, links by your old name lead to you, and you can take it back.</p>
        <Field label="E-mail address" value={mail} onChange={setMail} hint="name@example.org" />
        <p class="quiet">Only you see it.</p>
        <Field label="About you" value={text} onChange={setText} lines={4} />
        <UploadPicture label="A picture of you" onUploaded={choose} />
        <Field label="Address of your picture" value={address} onChange={setAddress} hint="https://… or /images/…" />
        <p class="row">
          <button type="submit" class="primary">
            Save
          </button>
        </p>
      </form>
      <p class="quiet">
        Pinway records which pins you see and open, and keeps it for 30 days, to order home feeds.
      </p>
      <button type="button" onClick={() => void forget()}>
        Delete what was recorded
      </button>
    </Dialog>
  );
}
