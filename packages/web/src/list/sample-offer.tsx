import { Sparkles } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { useMe } from '../shared/me.js';
import { useTell } from '../shared/tell.js';
import { useSay } from '../shared/use-speech.js';
import { makeSamples } from './samples.js';

/** For a first visit: people to look at. They are made on a click and by nothing else. */
export function SampleOffer(): ReactElement {
  const say = useSay();
  const userId = useMe();
  const { trying } = useTell();
  const [busy, setBusy] = useState(false);
  async function make(): Promise<void> {
    setBusy(true);
    try {
      await makeSamples(userId);
    } finally {
      setBusy(false);
    }
  }
  return (
    <div className="mx-4 rounded-xl border border-line bg-raised p-3 text-center">
      <button type="button" className="button button-main w-full px-2 whitespace-normal" disabled={busy} onClick={() => trying(make)}>
        <Sparkles aria-hidden="true" className="size-4" />
        {say(busy ? 'list.samplesBusy' : 'list.samples')}
      </button>
      <p className="mt-2 text-xs text-muted">{say('list.samplesNote')}</p>
    </div>
  );
}
