/** Whether people can see the page. */
export type Visibility = {
  readonly isVisible: () => boolean;
  /** calls `onChange` until the returned function is called */
  readonly watch: (onChange: () => void) => () => void;
};

export const tabVisibility: Visibility = {
  isVisible: () => document.visibilityState === 'visible',
  watch: (onChange) => {
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  },
};

/**
 * Keeps a stream open only while the page is visible. A browser opens six connections to one address, and each tab
 * shares them: streams of hidden tabs would leave none for the commands of the visible one. `begin` opens the stream
 * and returns how it ends. Returns how to end it for good.
 */
export const whileVisible = (visibility: Visibility, begin: () => () => void): (() => void) => {
  let end: (() => void) | null = null;
  const update = (): void => {
    if (visibility.isVisible()) {
      end ??= begin();
    } else {
      end?.();
      end = null;
    }
  };
  const stopWatching = visibility.watch(update);
  update();
  return () => {
    stopWatching();
    end?.();
    end = null;
  };
};
