// A person's picture beside their name; without a picture, the first letter of the name.
import { here } from "../api/images";

interface Props {
  avatar: { url: string } | null | undefined;
  name: string | undefined;
  size: number;
}

export function Avatar({ avatar, name, size }: Props) {
  const address = avatar ? here(avatar.url) : null;
  if (address) return <img class="avatar" src={address} alt="" width={size} height={size} />;
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${Math.round(size * 0.45)}px` };
  return (
    <span class="avatar letter" aria-hidden="true" style={style}>
      {(name ?? "").charAt(0).toUpperCase()}
    </span>
  );
}
