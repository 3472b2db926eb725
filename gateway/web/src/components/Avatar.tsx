// A person's picture, beside their name.
import { here } from "../api/images";

interface Props {
  avatar: { url: string } | null | undefined;
  size: number;
}

export function Avatar({ avatar, size }: Props) {
  const address = avatar ? here(avatar.url) : null;
  return address ? <img class="avatar" src={address} alt="" width={size} height={size} /> : <span class="avatar none" style={{ width: `${size}px`, height: `${size}px` }} />;
}
