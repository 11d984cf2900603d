(* Certificates of the kinds private and private-in-parts in JSON, for the checker, and the claims of those of the kind relational. *)

open Checker
open Reading

(* How the entry differs that a step reads.  Where it does not matter which do, nothing is written: any may. *)
let differs (a : Automata.t) =
  let states = Array.of_list a.automaton.states in
  let reads = Array.of_list (List.map (fun t -> states.(t.src).reads) a.automaton.transitions) in
  fun where transition letter ->
  match letter with
  | None when not a.unfolds -> if reads.(transition) then Any else Same
  | None when reads.(transition) -> refuse "%s has no letter" where
  | Some _ when not reads.(transition) -> refuse "%s has a letter" where
  | None -> Same
  | Some _ when not a.unfolds -> refuse "%s has a letter" where
  | Some l -> (match text where l with
      | "=" -> Same | "~" -> Any | "-" -> Least | "+" -> Largest
      | l -> refuse "%s has the letter %s" where l)

(* What a base stands on: the automaton, or the lift of a ground, whose nodes and edges take the place of states and
   transitions.  [key] names it in a node of the base, [way] is what an edge is by, from a place, for its number and letter. *)
type below = {
  key : string; place : string -> Json.t -> int; tells : bool; steps : int;
  way : string -> int -> int -> Json.t option -> int * differs }

let automaton (a : Automata.t) =
  let differs = differs a in
  { key = "state"; place = (fun where j -> a.state (text where j)); tells = a.unfolds;
    steps = List.length a.automaton.transitions; way = (fun where _ t letter -> t, differs where t letter) }

(* Places are those of the nodes. *)
let edges below where rule places j =
  let seen = Hashtbl.create 97 in
  let nodes = Array.length places in
  List.mapi (fun e item ->
    let where = Printf.sprintf "%s[%d]" where e in
    match items where item with
    | n :: t :: m :: ([] | [ _ ] as letter) ->
        let n = number where nodes n and t = number where below.steps t and m = number where nodes m in
        let w = below.way where places.(n) t (match letter with [ l ] -> Some l | _ -> None) in
        let key = match rule with `One_for_each_way -> (n, w, 0) | `Different -> (n, w, m) in
        if Hashtbl.mem seen key then refuse "%s is given twice" where;
        Hashtbl.add seen key ();
        ((n, w), m)
    | l -> refuse "%s has %d items, not 3 or 4" where (List.length l))
    (items where j)

(* Facts as comparisons, or a pair that is apart.  In the paper's automata they are about variables. *)
let fact (a : Automata.t) where j =
  let nothing = { negative = false; whence = Zero; plus = zero } in
  let compared low high strict = { low; high; strict } in
  match items where j with
  | [ r; x; y ] ->
      let r = text where r and x = text where x and y = text where y in
      let value s =
        let n = String.length s in
        match a.variable s with
        | Some x -> { nothing with whence = Held x }
        | None when a.plain -> refuse "%s has the fact %s %s %s" where x r y
        | None when n > 0 && s.[0] = '-' && a.variable (String.sub s 1 (n - 1)) <> None ->
            { nothing with negative = true; whence = Held (Option.get (a.variable (String.sub s 1 (n - 1)))) }
        | None -> { nothing with plus = rational where (Json.Text s) } in
      let v = value x and w = value y in
      (match r with
       | "<" when not (a.plain && x = y) -> [ compared v w true ], []
       | "=" when not (a.plain && x = y) -> [ compared v w false; compared w v false ], []
       | "<=" when not a.plain -> [ compared v w false ], []
       | "!=" when not a.plain -> [], [ v, w ]
       | _ -> refuse "%s has the fact %s %s %s" where x r y)
  | l -> refuse "%s has %d items, not 3" where (List.length l)

let bnode (a : Automata.t) below required where i j =
  let where = Printf.sprintf "%s.nodes[%d]" where i in
  let l = members where (below.key :: required)
      ((if required = [] then [ "facts" ] else []) @ if below.tells then [ "differ"; "registers" ] else []) j in
  let facts = optional "facts" l (fun v -> List.map (fact a (where ^ ".facts")) (items where v)) [] in
  { b_state = below.place where (List.assoc below.key l);
    b_facts = List.concat_map fst facts; b_distinct = List.concat_map snd facts;
    b_apart = optional "differ" l (number where (List.length a.automaton.differ)) 0;
    b_known = optional "registers" l (fun v -> List.map (fun (r, q) ->
      match a.register r with
      | Some n -> n, rational where q
      | None -> refuse "%s is about %s, which is no register" where r) (table where v)) [] }

let intervals where own j =
  List.map (fun (x, v) ->
    match own x with
    | None -> refuse "%s is about %s, which is no variable of it" where x
    | Some n -> n, (match v with Json.Null -> None | v -> Some (interval where v)))
    (table where j)

let graph (a : Automata.t) below where own priced base lift =
  let wb = where ^ ".base" and wl = where ^ ".lift" in
  let b = members wb [ "nodes"; "edges" ] [] base in
  let nodes = List.mapi (bnode a below [] wb) (items wb (List.assoc "nodes" b)) in
  let places = Array.of_list (List.map (fun n -> n.b_state) nodes) in
  let l = members wl [ "cover"; "shifts"; "nodes"; "edges" ] [] lift in
  let lnode i j =
    let where = Printf.sprintf "%s.nodes[%d]" wl i in
    let n = members where (if priced then [ "base"; "potential" ] else [ "base" ]) [ "shifts" ] j in
    { l_base = number where (List.length nodes) (List.assoc "base" n);
      l_pot = optional "potential" n (rational where) zero;
      l_own = optional "shifts" n (intervals where own) [] } in
  let l_nodes = List.mapi lnode (items wl (List.assoc "nodes" l)) in
  let l_places = Array.of_list (List.map (fun n -> places.(n.l_base)) l_nodes) in
  { b_nodes = nodes; b_edges = edges below (wb ^ ".edges") `One_for_each_way places (List.assoc "edges" b);
    forward = (match text wl (List.assoc "cover" l) with
      | "forward" -> true | "backward" -> false | s -> refuse "%s.cover is %s" wl s);
    everywhere = intervals (wl ^ ".shifts") own (List.assoc "shifts" l); l_nodes;
    l_edges = edges below (wl ^ ".edges") `Different l_places (List.assoc "edges" l) }

let claim where l =
  let low, high = interval where (List.assoc "adjacency" l) in
  { c_low = low; c_high = high; c_sens = rational where (List.assoc "sensitivity" l);
    c_D = rational where (List.assoc "D" l) }

let head = [ "kind"; "adjacency"; "sensitivity"; "D" ]

let private_ (a : Automata.t) where j =
  let l = members where (head @ [ "base"; "lift" ]) [] j in
  { c_claim = claim where l; c_hints = a.hints; c_parts = []; c_layer = [];
    c_ground = graph a (automaton a) where a.variable true (List.assoc "base" l) (List.assoc "lift" l) }

(* ---- Grounds, and how parts stand on them ---- *)

(* A graph whose lift is itself. *)
let by_itself nodes edges potentials =
  { b_nodes = nodes; b_edges = edges; forward = true; everywhere = []; l_edges = edges;
    l_nodes = List.mapi (fun i p -> { l_base = i; l_pot = p; l_own = [] }) potentials }

(* Potentials by the names of what has them, which are these. *)
let potentials where names j =
  let found = table where j in
  if List.sort compare (List.map fst found) <> List.sort compare names then
    refuse "%s are not those of what takes the place of control states" where;
  let by_name = Hashtbl.create 97 in
  List.iter (fun (q, v) -> Hashtbl.add by_name q v) found;
  List.map (fun q -> rational where (Hashtbl.find by_name q)) names

(* Nodes are named; edges have numbers. *)
let named names steps =
  let place = numbering names in
  { key = "state"; tells = false; steps;
    place = (fun where j -> match place (text where j) with Some n -> n | None -> refuse "%s has an unknown state" where);
    way = (fun where _ e letter -> if letter <> None then refuse "%s has a letter" where; e, Same) }

(* The control states; the initial one comes first. *)
let states (a : Automata.t) where l =
  let initial = a.automaton.initial in
  let order = initial :: List.filter (fun q -> q <> initial) (List.mapi (fun q _ -> q) a.names) in
  let place = Array.make (List.length order) 0 in
  List.iteri (fun i q -> place.(q) <- i) order;
  let name = Array.of_list a.names and differs = differs a in
  let names = List.map (fun q -> name.(q)) order in
  let edges = List.mapi (fun i t -> ((place.(t.src), (i, differs where i None)), place.(t.tgt))) a.automaton.transitions in
  by_itself (List.map (fun q -> { b_state = q; b_facts = []; b_distinct = []; b_apart = 0; b_known = [] }) order)
    edges (potentials (where ^ ".potentials") names (List.assoc "potentials" l)), named names (List.length edges)

let trunk a where l j =
  let here = where ^ ".trunk" in
  let t = members here [ "base"; "lift" ] [] j in
  let g = graph a (automaton a) here (fun _ -> None) false (List.assoc "base" t) (List.assoc "lift" t) in
  let names = List.mapi (fun i _ -> string_of_int i) g.l_nodes in
  let pots = potentials (where ^ ".potentials") names (List.assoc "potentials" l) in
  { g with l_nodes = List.map2 (fun n p -> { n with l_pot = p }) g.l_nodes pots }, named names (List.length g.l_edges)

(* What a certificate of a wider automaton calls its ground. *)
let written_ground a where j =
  let below = automaton a in
  let l = members where [ "nodes"; "edges" ] [] j in
  let written = items where (List.assoc "nodes" l) in
  let nodes = List.mapi (bnode a below [ "potential" ] where) written in
  let places = Array.of_list (List.map (fun n -> n.b_state) nodes) in
  let edges = edges below (where ^ ".edges") `One_for_each_way places (List.assoc "edges" l) in
  let by_way = Hashtbl.create 97 in
  List.iteri (fun e ((n, w), _) -> Hashtbl.add by_way (n, w) e) edges;
  by_itself nodes edges (List.map (fun n -> rational where (List.assoc "potential" (table where n))) written),
  { key = "ground"; place = (fun where j -> number where (Array.length places) j); tells = false; steps = below.steps;
    way = (fun where n t letter ->
      match Hashtbl.find_opt by_way (n, below.way where places.(n) t letter) with
      | Some e -> e, Same
      | None -> refuse "%s stands on no edge of the ground" where) }

let in_parts (a : Automata.t) where j =
  let l = members where (head @ "parts" :: [ if a.plain then "potentials" else "ground" ]) (if a.plain then [ "trunk" ] else []) j in
  let ground, below =
    if not a.plain then written_ground a (where ^ ".ground") (List.assoc "ground" l)
    else match List.assoc_opt "trunk" l with Some t -> trunk a where l t | None -> states a where l in
  let parts = items where (List.assoc "parts" l) in
  (* Variables that no part has are in a layer that there is not. *)
  let layer = Array.make a.variables (List.length parts + 1) in
  let part k j =
    let where = Printf.sprintf "%s.parts[%d]" where k in
    let p = members where [ "variables"; "base"; "lift" ] [] j in
    List.iter (fun x -> let x = text where x in match a.variable x with
      | Some n when layer.(n) > List.length parts -> layer.(n) <- k + 1
      | _ -> refuse "%s has %s, which is no variable or is in another part" where x)
      (items where (List.assoc "variables" p));
    let own x = match a.variable x with Some n when layer.(n) = k + 1 -> Some n | _ -> None in
    graph a below where own false (List.assoc "base" p) (List.assoc "lift" p) in
  let parts = List.mapi part parts in
  { c_claim = claim where l; c_hints = a.hints; c_ground = ground; c_parts = parts; c_layer = Array.to_list layer }

(* A pattern of a certificate of the kind violation: the run, and where the pattern is. *)
let pattern (a : Automata.t) where name j =
  let keys = match name with "leaking-cycle" -> [ "rounds" ] | "disclosing-cycle" -> [] | _ -> [ "path" ] in
  let l = members where ([ "kind"; "pattern"; "run"; "cycles" ] @ keys) [] j in
  let transitions = Array.of_list a.automaton.transitions and states = Array.of_list a.automaton.states in
  let numbers key limit j = List.map (number (where ^ "." ^ key) limit) (items (where ^ "." ^ key) j) in
  let run = numbers "run" (Array.length transitions) (List.assoc "run" l) in
  let size = List.length run in
  let cycles = List.map (fun c -> match numbers "cycles" (size + 1) c with
    | [ i; k ] -> i, k
    | _ -> refuse "%s has a cycle that is no range" where) (items where (List.assoc "cycles" l)) in
  let path () = numbers "path" size (List.assoc "path" l) in
  run, match name, cycles with
  | "leaking-cycle", [ i, k ] when k = size -> Leaking i
  | "leaking-pair", [ c1; c2 ] -> Pair (c1, c2, path ())
  | "disclosing-cycle", [ i, k ] ->
      let shows t = List.exists (function Sym _ -> false | _ -> true) t.out in
      let at = Array.of_list run in
      let discloses p = let t = transitions.(at.(p)) in i <= p && p < k && states.(t.src).reads && shows t in
      (match List.find_opt discloses (List.init size Fun.id) with
       | Some p -> Disclosing ((i, k), p)
       | None -> refuse "%s has a cycle that shows no number of an entry" where)
  | "privacy-violating-path", [ c ] -> Violating (c, path ())
  | _ -> refuse "%s has not the cycles that its pattern has" where

let relational (a : Automata.t) where j =
  let l = members where (head @ [ "machine"; "suffixes"; "nodes"; "initial" ]) [] j in
  Pairs.read a where (claim where l) l
