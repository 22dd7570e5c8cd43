// Arguments: what to do, in order ({"seed": n, "limit": ms} begins an episode, {"place": i, "kind":
// 0 | 1} acts), milliseconds to settle after each, and selenium's callback. Answers with the page,
// and with what the task says of the episode.
var orders = arguments[0], settle = arguments[1], answer = arguments[arguments.length - 1];

function isVisible(element) {
  var box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== 'hidden';
}

function tidy(text) { return (text || '').replace(/\s+/g, ' ').trim(); }

function described(element) {
  var is = function (selector) { return element.matches(selector); };
  var role = '', label = tidy(element.textContent), state = '';
  if (is('.ui-tabs-anchor')) {
    role = 'tab';
    if (element.closest('li').matches('.ui-tabs-active')) state = 'selected';
  } else if (is('.ui-accordion-header')) {
    role = 'section';
    state = element.getAttribute('aria-expanded') === 'true' ? 'open' : 'closed';
  } else if (is('.ui-menu-item')) {
    role = 'menuitem';
    label = tidy(element.firstElementChild.textContent);
    var inner = element.querySelector('.ui-menu');
    if (inner) state = isVisible(inner) ? 'open' : 'closed';
    if (is('.ui-state-disabled')) state = 'disabled';
  } else if (is('input[type=radio], input[type=checkbox]')) {
    role = element.type;
    label = tidy(element.closest('label') ? element.closest('label').textContent : '');
    if (element.checked) state = 'selected';
  } else if (is('input[type=text], input[type=password], textarea')) {
    role = 'textbox';
    label = tidy(element.value);
  } else if (is('button, input[type=button], input[type=submit]')) {
    role = 'button';
    label = label || tidy(element.value);
  } else if (is('.alink, a')) {
    role = 'link';
    label = label || tidy(element.title);
  } else if (is('option')) {
    role = 'menuitem';
    if (element.selected) state = 'selected';
  } else if (element.tagName !== 'SELECT') {
    role = 'button';  // what answers to a click, and says so only to the browser
    label = label || tidy(element.title) || tidy(element.getAttribute('class')) ||
      tidy(element.getAttribute('fill') + ' ' + element.tagName);
  }
  return [role, label, state];
}

// Whether an element that holds no other one answers to clicks: by a handler (its own, jQuery's or
// d3's), or by the shape of the mouse, which is another around it.
function isClickable(element) {
  var events = window.jQuery && jQuery._data(element, 'events') || {};
  var pointed = getComputedStyle(element).cursor === 'pointer' &&
    getComputedStyle(element.parentElement).cursor !== 'pointer';
  return (pointed || element.onclick || element.__onclick || events.click || events.mousedown) &&
    element.querySelector(SELECTOR) === null;
}

var SELECTOR = '.ui-tabs-anchor, .ui-accordion-header, .ui-menu-item, input, textarea, button, ' +
  '.alink, a, option';

var OUTSIDE = '#query, #reward-display, #sync-task-cover, #click-canvas';  // not the task's

// Dialogs and calendars stand beside the area.
function visible() {
  return Array.from(document.body.querySelectorAll('*')).filter(function (e) {
    return !e.closest(OUTSIDE) && (e.matches(SELECTOR) || isClickable(e)) &&
      (e.tagName === 'OPTION' ? isVisible(e.closest('select')) : isVisible(e)) &&
      described(e)[0] !== '';
  });
}

function shown() {
  return {
    utterance: [core.getUtterance()].map(function (said) { return said.utterance || said; })[0],
    elements: visible().map(described),
    text: tidy(document.getElementById('area').innerText),
    done: WOB_DONE_GLOBAL,
    reward: WOB_RAW_REWARD_GLOBAL,
    reason: WOB_REWARD_REASON || '',
    started: core.EP_TIMER !== null || WOB_DONE_GLOBAL
  };
}

function send(element, type) {
  element.dispatchEvent(new MouseEvent(type, {bubbles: true, cancelable: true, view: window}));
}

function begin(order) {
  if (window.jQuery) {
    jQuery.fx.off = true;
    if (jQuery.ui && jQuery.ui.menu) jQuery.ui.menu.prototype.delay = 0;
  }
  core.EPISODE_MAX_TIME = order.limit;
  core.endEpisode(0);
  Math.seedrandom(order.seed);
  core.startEpisodeReal();
}

function act(order) {
  var element = visible()[order.place];
  // A menu item listens on what is inside of it.
  var target = element.matches('.ui-menu-item') ? element.firstElementChild : element;
  var types = ['mouseover', 'mousemove'];
  if (order.kind === 0) types = types.concat(['mousedown', 'mouseup']);
  types.forEach(function (type) { send(target, type); });
  if (order.kind !== 0) return;
  if (element.tagName === 'OPTION') {
    element.selected = element.closest('select').multiple ? !element.selected : true;
    element.closest('select').dispatchEvent(new Event('change', {bubbles: true}));
    return;
  }
  if (element.matches('input, textarea')) element.focus();
  if (target.click) target.click(); else send(target, 'click');  // SVG has no click()
}

function follow() {
  var order = orders.shift();
  if (order === undefined) return answer(shown());
  (order.seed === undefined ? act : begin)(order);
  setTimeout(follow, settle);
}

follow();
