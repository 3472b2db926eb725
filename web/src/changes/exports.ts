// Requests the file with the viewer's own data, tells its state, and loads it.
import { client } from "../api/client";
import { defineChange } from "../api/change";
import { graphql } from "../gen";
import type { RequestMyDataMutation } from "../gen/graphql";

export const DataFile = graphql(`
  query DataFile {
    viewer {
      id
      dataExport {
        state
        requestedAt
        expiresAt
        bytes
      }
    }
  }
`);

// An address holds for minutes, so each download asks for a new one.
const DataFileAddress = graphql(`
  query DataFileAddress {
    viewer {
      id
      dataExport {
        url
      }
    }
  }
`);

const RequestMyData = graphql(`
  mutation RequestMyData($input: RequestMyDataInput!) {
    requestMyData(input: $input) {
      errors {
        code
        message
        retryAfter
      }
    }
  }
`);

export const localTime = (time: string | number) =>
  new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

export const requestMyData = defineChange<object, RequestMyDataMutation>({
  name: "requestMyData",
  document: RequestMyData,
  payload: (data) => data.requestMyData,
  refusal: (data) =>
    (data.requestMyData?.errors ?? []).map(({ code, message, retryAfter }) => {
      if (code !== "QUOTA_EXCEEDED" || retryAfter == null) return message;
      return `You may request a file once a day. Try again from ${localTime(Date.now() + retryAfter * 1000)} on.`;
    }),
});

// Begins the download. Returns whether there is a file.
export async function download(): Promise<boolean> {
  const { data, error } = await client.query({ query: DataFileAddress, fetchPolicy: "no-cache" });
  if (!data?.viewer) throw error ?? new Error("The viewer is missing.");
  const url = data.viewer.dataExport?.url;
  if (!url) return false;
  const link = document.createElement("a");
  // The page's own origin: a proxy may have changed the port. The browser loads such a link beside the
  // page, which stays, also if the gateway refuses the address.
  link.href = new URL(url).pathname;
  link.download = "";
  link.click();
  return true;
}
