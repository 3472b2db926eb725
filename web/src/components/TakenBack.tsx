// A list of people, pins and other things that the viewer keeps away, each with a button to end that.
interface Entry {
  id: string;
  name: string;
  detail?: string;
}

interface Props {
  title: string;
  action: string;
  entries: Entry[];
  onTakeBack: (id: string) => void;
}

export function TakenBack({ title, action, entries, onTakeBack }: Props) {
  if (!entries.length) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="comments">
        {entries.map(({ id, name, detail }) => (
          <li key={id} class="row">
            <span>
              {name} {detail && <span class="quiet">{detail}</span>}
            </span>
            <button type="button" onClick={() => onTakeBack(id)}>
              {action}
              <span class="visually-hidden"> {name}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
