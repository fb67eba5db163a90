// @ts-check
// Switches between dark and light colours. The default is the system's preference.

const KEY = 'inferspan.desk.theme';
const NEXT = { system: 'dark', dark: 'light', light: 'system' };
const SIGN = { system: '◐', dark: '☾', light: '☀' };

export function wireTheme(button, changed) {
  let choice = remembered();
  const show = () => {
    if (choice === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    button.textContent = SIGN[choice];
    button.title = `Colours: ${choice} (t)`;
    button.setAttribute('aria-label', `Colours: ${choice}. Switch to ${NEXT[choice]}`);
  };
  const turn = () => {
    choice = NEXT[choice];
    remember(choice);
    show();
    changed();
  };
  button.addEventListener('click', turn);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
  show();
  return turn;
}

// If the browser forbids storage, the choice lasts until the page is closed.
function remembered() {
  try {
    const choice = localStorage.getItem(KEY);
    return choice in NEXT ? choice : 'system';
  } catch {
    return 'system';
  }
}

function remember(choice) {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // without storage, the choice is not remembered
  }
}

/** Resolves a CSS variable to a colour, because a canvas does not support CSS variables. */
export function colour(name) {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const seen = getComputedStyle(probe).color;
  probe.remove();
  return seen;
}
