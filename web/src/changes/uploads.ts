// Uploads a picture of one's own.
import { make, defineChange } from "../api/change";
import { announce } from "../components/Toasts";
import type { PictureImage } from "../components/Picture";
import { graphql } from "../gen";
import type { CreateUploadMutation } from "../gen/graphql";

const CreateUpload = graphql(`
  mutation CreateUpload($input: CreateUploadInput!) {
    createUpload(input: $input) {
      url
      errors {
        message
      }
    }
  }
`);

const createUpload = defineChange<object, CreateUploadMutation>({
  name: "createUpload",
  document: CreateUpload,
  payload: (data) => data.createUpload,
});

export const TYPES = "image/jpeg,image/png,image/webp,image/gif,image/avif";

// Returns the stored picture; null, after a message, if it was refused or there was no answer.
export async function upload(file: File): Promise<PictureImage | null> {
  const url = (await make(createUpload, {}))?.createUpload?.url;
  if (!url) return null;
  try {
    // The page's own origin: its policy allows no other, and a proxy may have changed the port.
    const answer = await fetch(new URL(url).pathname, { method: "PUT", body: file });
    const told = await answer.json();
    if (answer.ok) return told;
    announce(`The picture was not uploaded: ${told.errors[0].message}.`, "error");
  } catch {
    announce("The picture was not uploaded: Pinway can't be reached.", "error");
  }
  return null;
}
