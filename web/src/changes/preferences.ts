// Hides a pin in the home feed, or shows less of its owner there, on all of the viewer's devices.
import { defineChange } from "../api/change";
import { graphql } from "../gen";
import type {
  HidePinMutation,
  SeeAsUsualMutation,
  SeeLessMutation,
  UnhidePinMutation,
} from "../gen/graphql";

const HidePin = graphql(`
  mutation HidePin($input: HidePinInput!) {
    hidePin(input: $input) {
      hiddenPinId
      errors {
        message
      }
    }
  }
`);

const UnhidePin = graphql(`
  mutation UnhidePin($input: HidePinInput!) {
    unhidePin(input: $input) {
      unhiddenPinId
      errors {
        message
      }
    }
  }
`);

const SeeLess = graphql(`
  mutation SeeLess($input: FeedPreferenceInput!) {
    seeLess(input: $input) {
      preference
      errors {
        message
      }
    }
  }
`);

const SeeAsUsual = graphql(`
  mutation SeeAsUsual($input: FeedPreferenceInput!) {
    seeAsUsual(input: $input) {
      preference
      errors {
        message
      }
    }
  }
`);

interface Hide {
  pinId: string;
}

interface Preference {
  id: string;
}

export const hidePin = defineChange<Hide, HidePinMutation>({
  name: "hidePin",
  document: HidePin,
  payload: (data) => data.hidePin,
});

export const unhidePin = defineChange<Hide, UnhidePinMutation>({
  name: "unhidePin",
  document: UnhidePin,
  payload: (data) => data.unhidePin,
});

export const seeLess = defineChange<Preference, SeeLessMutation>({
  name: "seeLess",
  document: SeeLess,
  payload: (data) => data.seeLess,
});

export const seeAsUsual = defineChange<Preference, SeeAsUsualMutation>({
  name: "seeAsUsual",
  document: SeeAsUsual,
  payload: (data) => data.seeAsUsual,
});
