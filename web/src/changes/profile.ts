// Changes the viewer's profile.
import { graphql } from "../gen";
import type { ImageInput, UpdateProfileMutation } from "../gen/graphql";
import { defineChange } from "../api/change";

const UpdateProfile = graphql(`
  mutation UpdateProfile($input: UpdateProfileInput!) {
    updateProfile(input: $input) {
      user {
        id
        fullName
        about
        avatar {
          url
        }
      }
      errors {
        message
      }
    }
  }
`);

// An absent field stays as it is.
export interface Profile {
  fullName: string;
  about: string;
  avatar?: ImageInput | null;
}

export const updateProfile = defineChange<Profile, UpdateProfileMutation>({
  name: "updateProfile",
  document: UpdateProfile,
  payload: (data) => data.updateProfile,
});
