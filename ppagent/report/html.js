"use strict";
// Without this script the page shows the same; it adds the buttons that copy, and unfolds what is linked or printed.
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = button.closest(".copyable").querySelector("pre");
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
}
function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const details = target && target.closest("details");
  if (details && !details.open) {
    details.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open]):not(.unused)")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});
