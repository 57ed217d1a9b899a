// The law book: look-up as one types, clauses opened beside the chat on a wide screen, a question from a link, short cuts.
// Nothing is fetched from anywhere but this server.
(() => {
  const WIDE = matchMedia("(min-width: 1100px)");
  const PAUSE = 120; // ms after a letter
  const isMainPage = location.pathname === "/";
  const place = () => document.getElementById("tl-beside");
  const words = () => ({ ...document.querySelector("[data-close]")?.dataset, ...document.querySelector("[data-beside-back]")?.dataset });

  // A clause beside the page
  const opened = []; // addresses, the one shown last
  let opener = null; // what gets the focus back when the clause is closed

  const button = (name, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = name;
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  };

  // Who chooses from a list goes on in the list; who opened a number reads what was opened.
  const showBeside = async (takesFocus) => {
    const region = place();
    const href = opened.at(-1);
    const tools = document.createElement("div");
    tools.className = "tl-beside-tools";
    if (opened.length > 1) tools.append(button("tl-back", `← ${words().besideBack ?? ""}`, () => { opened.pop(); showBeside(true); }));
    const close = button("tl-close", "✕", closeBeside);
    close.setAttribute("aria-label", words().close ?? "");
    tools.append(close);
    const body = document.createElement("div");
    try {
      const answer = await fetch(href, { headers: { "X-Tablelaw-Panel": "1" } });
      body.innerHTML = await answer.text();
    } catch {
      body.textContent = words().lost ?? "";
    }
    if (href !== opened.at(-1)) return; // another one was opened meanwhile
    region.replaceChildren(tools, body);
    region.hidden = false;
    document.body.classList.add("tl-beside-open");
    tools.scrollIntoView({ block: "nearest" });
    if (takesFocus) region.focus({ preventScroll: true });
  };

  const openBeside = (href, from) => {
    if (!place()?.contains(from)) {
      opened.length = 0; // a new start
      opener = from;
    }
    if (opened.at(-1) !== href) opened.push(href);
    showBeside(!links().includes(from) && !from?.matches("a.tl-beside"));
  };

  const closeBeside = () => {
    const region = place();
    opened.length = 0;
    region.hidden = true;
    region.replaceChildren();
    document.body.classList.remove("tl-beside-open");
    if (opener?.isConnected) opener.focus();
  };

  document.addEventListener("tl-open-clause", (event) => {
    if (!WIDE.matches || !place()) return;
    event.preventDefault();
    openBeside(event.detail, document.activeElement);
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.tl-beside");
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || !WIDE.matches || !place()) return;
    event.preventDefault();
    openBeside(link.getAttribute("href"), link);
  });

  // Look-up
  const box = () => document.getElementById("tl-find-q");
  const status = (text) => { const line = document.getElementById("tl-find-said"); if (line) line.textContent = text; };
  let asked = 0;
  let waiting;

  const find = async (input) => {
    const mine = ++asked;
    const place = document.getElementById("tl-found");
    const typed = input.value.trim();
    if (!typed) { place.replaceChildren(); status(""); return; }
    const answer = await fetch(`${input.form.dataset.find}&q=${encodeURIComponent(typed)}`);
    const text = await answer.text();
    if (mine !== asked) return; // typed on meanwhile
    place.innerHTML = text;
    status(place.querySelector("[data-said]")?.dataset.said ?? "");
  };

  const filter = (input) => {
    const wanted = input.value.toLowerCase().replaceAll("-", " ").split(/\s+/).filter(Boolean);
    let count = 0;
    for (const section of document.querySelectorAll(`#${input.form.dataset.filter} section`)) {
      let left = 0;
      for (const item of section.querySelectorAll("li")) {
        item.hidden = !wanted.every((word) => item.dataset.words.includes(word));
        if (!item.hidden) left += 1;
      }
      section.hidden = left === 0;
      count += left;
    }
    const line = document.getElementById("tl-find-said").dataset;
    const said = count ? line.count : line.nothing;
    status(wanted.length ? said.replace("{count}", count).replace("{words}", input.value.trim()) : "");
  };

  const links = () => {
    const within = box()?.form.dataset.filter ?? "tl-found";
    return [...document.querySelectorAll(`#${within} li:not([hidden]) a`)];
  };

  const isFindForm = (form) => Boolean(form && (form.dataset.find || form.dataset.filter));

  document.addEventListener("input", (event) => {
    const input = event.target;
    if (input.id !== "tl-find-q") return;
    if (input.form.dataset.filter) { filter(input); return; }
    clearTimeout(waiting);
    waiting = setTimeout(() => find(input).catch(() => status(words().lost ?? "")), PAUSE);
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!isFindForm(form)) return;
    event.preventDefault();
    clearTimeout(waiting);
    try {
      if (form.dataset.find) await find(box());
      links()[0]?.click();
    } catch {
      status(words().lost ?? "");
    }
  });

  const move = (event) => {
    const all = links();
    const at = all.indexOf(document.activeElement);
    if (document.activeElement !== box() && at < 0) return;
    const next = event.key === "ArrowDown" ? all[at + 1] : at === 0 ? box() : all[at - 1];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  // A question from a link is asked once: the address is changed before it is sent, so that no reload sends it again.
  const askFromLink = () => {
    const question = new URLSearchParams(location.search).get("q");
    if (!isMainPage || !question?.trim()) return;
    const tries = setInterval(() => {
      const input = document.querySelector("#tl-question textarea");
      const send = document.getElementById("tl-send");
      if (!input || !send) return;
      clearInterval(tries);
      history.replaceState(history.state, "", location.pathname);
      input.value = question;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      setTimeout(() => send.click(), 0);
    }, 100);
  };

  // Short cuts, never while something is typed
  const showKeys = async () => {
    let dialog = document.getElementById("tl-keys");
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "tl-keys";
      const body = document.createElement("div");
      const close = button("tl-close", "✕", () => dialog.close());
      close.setAttribute("aria-label", words().close ?? "");
      dialog.append(close, body);
      document.body.append(dialog);
      try {
        body.innerHTML = await (await fetch("/book/keys")).text();
        dialog.setAttribute("aria-label", body.querySelector("h2")?.textContent ?? "");
      } catch {
        body.textContent = words().lost ?? "";
      }
    }
    if (!dialog.open) dialog.showModal();
  };

  const toLookUp = () => {
    if (!box()) { location.href = "/book#tl-find-q"; return; }
    box().focus();
    box().select();
  };

  const newCase = () => {
    if (!isMainPage) { location.href = "/"; return; }
    document.getElementById("tl-new")?.click();
    document.querySelector("#tl-question textarea")?.focus();
  };

  const escape = () => {
    if (document.querySelector("dialog[open]")) return; // closes itself
    const input = box();
    if (input && (document.activeElement === input || links().includes(document.activeElement)) && input.value) {
      input.value = "";
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.focus();
    } else if (place() && !place().hidden) closeBeside();
  };

  const isTyping = (target) => target.isContentEditable || target.matches?.("input, textarea, select");
  const acts = { "/": toLookUp, n: newCase, "?": showKeys };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
    if (event.key === "Escape") escape();
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // The right column of the main page, made when the screen is wide enough for it
  const addSide = async () => {
    if (!isMainPage || !WIDE.matches || document.getElementById("tl-side")) return;
    const made = document.createElement("template");
    made.innerHTML = await (await fetch("/book/side")).text();
    if (document.getElementById("tl-side")) return;
    document.body.append(made.content);
    document.body.classList.add("tl-with-side");
  };

  const begin = () => {
    for (const print of document.querySelectorAll("[data-print]")) {
      print.hidden = false;
      print.addEventListener("click", () => window.print());
    }
    document.getElementById("tl-here")?.scrollIntoView({ block: "center" });
    if (location.hash === "#tl-find-q") box()?.focus();
    addSide().catch(() => {}); // without it the clause opens in the panel
    WIDE.addEventListener("change", () => addSide().catch(() => {}));
    askFromLink();
  };
  // Gradio puts this script into the page when the page is there already.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
