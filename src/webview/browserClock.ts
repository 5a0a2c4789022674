import { PageClock } from './pageClock.ts';

/** The clock of a page that is drawn by a browser. */
export function browserClock(): PageClock {
  return new PageClock({
    wall: () => Date.now(),
    later: (run, delay) => {
      const timer = setTimeout(run, delay);
      return {
        dispose: () => {
          clearTimeout(timer);
        },
      };
    },
    visible: () => !document.hidden,
  });
}
