// A labelled text field of a form.
interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  lines?: number;
  required?: boolean;
}

export function Field({ label, value, onChange, hint, lines = 1, required = false }: Props) {
  return (
    <label class="field">
      <span>{label}</span>
      {lines > 1 ? (
        <textarea rows={lines} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <input
          required={required}
          value={value}
          placeholder={hint}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </label>
  );
}
