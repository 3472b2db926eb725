// A picture, which has its own shape and color even before it has loaded.
import { useState } from "preact/hooks";
import { here } from "../api/images";

export interface PictureImage {
  url: string;
  width: number | null;
  height: number | null;
  dominantColor: string | null;
}

interface Props {
  image: PictureImage | null | undefined;
  alt: string;
  eager?: boolean;
}

export function Picture({ image, alt, eager }: Props) {
  const [failed, setFailed] = useState(false);
  const address = image ? here(image.url) : null;
  const color = image?.dominantColor ?? undefined;
  if (!address || failed) {
    return (
      <span class="picture placeholder" style={{ backgroundColor: color }}>
        {/* Without an alternative text, the link around the picture has the name. */}
        {alt && <span>{image ? hostOf(image.url) : "No picture"}</span>}
      </span>
    );
  }
  return (
    <span class="picture" style={{ backgroundColor: color }}>
      <img
        src={address}
        alt={alt}
        width={image?.width ?? undefined}
        height={image?.height ?? undefined}
        loading={eager ? "eager" : "lazy"}
        decoding="async"
        draggable={false}
        onError={() => setFailed(true)}
      />
    </span>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? `Picture at ${new URL(url).host}` : "No picture";
}
