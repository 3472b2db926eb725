// A button, and a dialog in which the viewer requests the file with their own data and loads it.
import { useQuery } from "@apollo/client/react";
import { useRef, useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { DataFile, download, localTime, requestMyData } from "../changes/exports";
import type { DataFileQuery } from "../gen/graphql";
import { Dialog } from "./Dialog";

const HASH = "#data";
const LOOK = 3_000; // milliseconds between two looks while the file is made
const DAY = 86_400_000; // after it, a request that was never done may be repeated

// The address of a user's own profile with the dialog open.
export const dataOf = (username: string) => `/user/${username}${HASH}`;

export function DownloadData() {
  const [open, setOpen] = useState(location.hash === HASH);
  const close = () => {
    setOpen(false);
    if (location.hash === HASH) navigate(location.pathname, { replace: true });
  };
  return (
    <>
      <p>
        <button type="button" onClick={() => setOpen(true)}>
          Download your data…
        </button>
      </p>
      {open && <DataDialog onClose={close} />}
    </>
  );
}

type File = NonNullable<NonNullable<DataFileQuery["viewer"]>["dataExport"]>;

const isBeingMade = (file: File) => file.state === "PENDING" && Date.now() - Date.parse(file.requestedAt) < DAY;

function DataDialog({ onClose }: { onClose: () => void }) {
  const settled = useRef(false);
  const { data, error, refetch } = useQuery(DataFile, {
    fetchPolicy: "no-cache", // a viewer that can't be read must not reach the screen behind the dialog
    pollInterval: LOOK,
    skipPollAttempt: () => settled.current || document.hidden,
  });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const viewer = data?.viewer;
  const file = viewer?.dataExport;
  settled.current = Boolean(viewer) && file?.state !== "PENDING";
  const mayRequest = viewer && !busy && !(file && isBeingMade(file));
  const mayLoad = file?.state === "READY";
  // The buttons keep their places and the focus while they have no effect.
  const request = async () => {
    if (!mayRequest) return;
    setProblem("");
    setBusy(true);
    // A failed look is repeated with the next one.
    if (await make(requestMyData, {}, setProblem)) await refetch().catch(() => undefined);
    setBusy(false);
  };
  const load = async () => {
    if (!mayLoad) return;
    setProblem("");
    try {
      if (!(await download())) setProblem("The file is gone. Request a new one.");
    } catch {
      setProblem("The file can't be loaded at present. Try again.");
    }
  };
  return (
    <Dialog title="Download your data" onClose={onClose}>
      <p>
        All that Pinway keeps about you, such as your boards, pins, comments and likes: a ZIP archive of JSON files. You
        may request a file once a day.
      </p>
      <div class="data-state" role="status">
        <p>{viewer ? <State file={file} /> : error ? "The file can't be looked up at present." : "One moment…"}</p>
        {problem && <p>{problem}</p>}
      </div>
      <p class="row">
        <button type="button" aria-disabled={!mayRequest} onClick={() => void request()}>
          Request a file
        </button>
        <button type="button" class="primary" aria-disabled={!mayLoad} onClick={() => void load()}>
          Download
        </button>
      </p>
    </Dialog>
  );
}

function State({ file }: { file: File | null | undefined }) {
  if (!file) return <>You have not requested a file yet.</>;
  if (isBeingMade(file)) {
    return <>Your file is being prepared. You may close this: a notification tells you when it is ready.</>;
  }
  if (file.state === "PENDING") return <>Your file could not be prepared within a day. Request it again.</>;
  const end = <time dateTime={file.expiresAt!}>{localTime(file.expiresAt!)}</time>;
  if (file.state === "EXPIRED") return <>Your last file was removed on {end}.</>;
  return (
    <>
      Your file is ready: {size(file.bytes!)}. It is kept until {end}.
    </>
  );
}

function size(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const format = { style: "unit", unit: units[power]!, maximumFractionDigits: 1 } as const;
  return (bytes / 1000 ** power).toLocaleString([], format);
}
