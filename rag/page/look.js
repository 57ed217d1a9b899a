// Text size, and dark or light, as the device chose them on /settings: runs in the head, before anything is painted.
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = (name, values) => {
    const value = new RegExp(`(?:^|; )tablelaw_${name}=(\\w+)`).exec(document.cookie)?.[1];
    return values.includes(value) ? value : values[0];
  };

  const apply = () => {
    const theme = chosen("theme", ["auto", "light", "dark"]);
    const size = chosen("size", ["normal", "large", "huge"]);
    const isDark = theme === "dark" || (theme === "auto" && prefersDark.matches);
    for (const name of ["large", "huge"]) root.classList.toggle(`tl-${name}`, size === name);
    root.style.colorScheme = isDark ? "dark" : "light"; // the canvas, before there is a style sheet
    root.classList.toggle("dark", isDark);
    document.body?.classList.toggle("dark", isDark);
  };

  apply();
  prefersDark.addEventListener("change", apply);
  addEventListener("pageshow", apply); // come back to from /settings
  // Gradio sets the class on the body by what the system prefers, once its own scripts have run.
  const keep = new MutationObserver(apply);
  new MutationObserver((_, self) => {
    if (!document.body) return;
    self.disconnect();
    apply();
    keep.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }).observe(root, { childList: true });
})();
