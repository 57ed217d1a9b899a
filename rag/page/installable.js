// Gradio's own page names a manifest of its own, first, and without cookies: this one takes its place.
(() => {
  const link = document.querySelector('link[rel="manifest"]') ?? document.head.appendChild(document.createElement("link"));
  link.rel = "manifest";
  link.crossOrigin = "use-credentials";
  link.href = "/manifest.webmanifest";
})();
