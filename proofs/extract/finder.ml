(* Which comparisons of a list, added up, give one that is asked for.  Not trusted: the checker adds them up itself. *)

open Checker

let one = { qnum = Zpos XH; qden = XH }
let half = { qnum = Zpos XH; qden = XO XH }

(* What was made of the list that was asked about last. *)
let remembered make =
  let last = ref None in
  fun comparisons -> match !last with
    | Some (c, made) when c == comparisons -> made
    | _ -> let made = make comparisons in last := Some (comparisons, made); made

(* ---- Any comparisons: shortest paths ---- *)

(* Where a term is, or its negative; 0 is its own negative. *)
let key t = t.whence, t.negative && t.whence <> Zero
let opposite (w, n) = w, not n && w <> Zero

(* Bounds on a difference: a number, and how many comparisons say that it is not reached.  (With their number a circle of
   comparisons one of which is strict has no shortest way around.) *)
let plus_bound (a, s) (b, s') = qred (qplus a b), s + s'
let less (a, s) (b, s') = if qeq_bool a b then s > s' else qle_bool a b
let nothing = { qnum = Z0; qden = XH }, 0

type solved = {
  node : place * bool -> int option;
  circle : int list option Lazy.t;                                  (* comparisons that contradict each other *)
  from : int -> ((q * int) option array * (int * int) option array)  (* bounds from a node, and the last step to them *)
}

let solve comparisons =
  let numbers = Hashtbl.create 31 in
  let number k = match Hashtbl.find_opt numbers k with
    | Some n -> n
    | None -> let n = Hashtbl.length numbers in Hashtbl.add numbers k n; n in
  let edges = List.concat (List.mapi (fun label a ->
    let low = key a.low and high = key a.high and bound = qred (qminus a.high.plus a.low.plus), Bool.to_int a.strict in
    [ number low, number high, bound, label; number (opposite high), number (opposite low), bound, label ]) comparisons) in
  let size = Hashtbl.length numbers in
  (* One round; the last node that came nearer. *)
  let round dist last =
    List.fold_left (fun changed (s, t, w, label) ->
      match dist.(s) with
      | None -> changed
      | Some b ->
          let b = plus_bound b w in
          match dist.(t) with
          | Some known when not (less b known) -> changed
          | _ -> dist.(t) <- Some b; last.(t) <- Some (s, label); Some t) None edges in
  let circle = lazy (
    let dist = Array.make size (Some nothing) and last = Array.make size None in
    let rec go k = match round dist last with
      | None -> None
      | Some t when k = 0 ->
          (* Back for as many steps as there are nodes, into the circle, and once around. *)
          let back t = Option.get last.(t) in
          let rec far t k = if k = 0 then t else far (fst (back t)) (k - 1) in
          let start = far t size in
          let rec around t labels =
            let s, label = back t in
            if s = start then label :: labels else around s (label :: labels) in
          Some (around start [])
      | Some _ -> go (k - 1) in
    go size) in
  let made = Hashtbl.create 7 in
  let from s = match Hashtbl.find_opt made s with
    | Some m -> m
    | None ->
        let dist = Array.make size None and last = Array.make size None in
        dist.(s) <- Some nothing;
        let rec go k = if k > 0 && round dist last <> None then go (k - 1) in
        go size;
        Hashtbl.add made s (dist, last); dist, last in
  { node = Hashtbl.find_opt numbers; circle; from }

let path solved u v =
  if u = v then Some (nothing, []) else
  match solved.node u, solved.node v with
  | Some s, Some t ->
      let dist, last = solved.from s in
      (match dist.(t) with
       | None -> None
       | Some bound ->
           (* Where comparisons contradict each other there may be no end of it. *)
           let rec back t labels k =
             if t = s || k = 0 then labels else match last.(t) with Some (p, l) -> back p (l :: labels) (k - 1) | None -> labels in
           Some (bound, back t [] (Array.length dist)))
  | _ -> None

let latest = remembered solve

(* Of integers: what bounds on the doubles of values say of the values, where that is more than their half. *)
let between comparisons =
  let solved = latest comparisons in
  let places = List.sort_uniq compare (List.concat_map (fun a -> [ a.low.whence; a.high.whence ]) comparisons) in
  let term (whence, negative) = { whence; negative; plus = fst nothing } in
  List.concat_map (fun u ->
    match path solved u (opposite u) with
    | Some ((b, _), _) ->
        let most = { qnum = qfloor (qmult half b); qden = XH } in
        [ { low = term u; high = { (term (Zero, false)) with plus = most }; strict = false } ]
    | None -> [])
    (List.concat_map (fun w -> if w = Zero then [] else [ w, false; w, true ]) places)

let sums =
  fun comparisons asked ->
    let solved = latest comparisons and u = key asked.low and v = key asked.high in
    if u = v then
      if not asked.strict then [] else
      match Lazy.force solved.circle with Some l -> List.map (fun k -> k, one) l | None -> []
    else
      let direct = path solved u v in
      let doubled = match path solved u (opposite u), path solved (opposite v) v with
        | Some (b, l), Some (b', l') ->
            let n, s = plus_bound b b' in Some ((qmult half n, s), l @ l')
        | _ -> None in
      let whole l = List.map (fun k -> k, one) l and halves l = List.map (fun k -> k, half) l in
      match direct, doubled with
      | Some (b, l), Some (b', l') -> if less b' b then halves l' else whole l
      | Some (_, l), None -> whole l
      | None, Some (_, l) -> halves l
      | None, None -> []

(* ---- The paper's automata: what docs/certificates.md counts as following ---- *)

type direct = {
  below : (int, int list) Hashtbl.t; above : (int, int list) Hashtbl.t;     (* of the sample *)
  told : (int * int * bool, int) Hashtbl.t                                 (* facts: of two variables, whether strict *)
}

let direct comparisons =
  let d = { below = Hashtbl.create 31; above = Hashtbl.create 31; told = Hashtbl.create 31 } in
  let note t x l = if not (Hashtbl.mem t x) then Hashtbl.add t x l in
  List.iteri (fun k a -> match a.low.whence, a.high.whence with
    | Held x, Insample -> note d.below x [ k ]
    | Insample, Held x -> note d.above x [ k ]
    | Held x, Held y -> note d.told (x, y, a.strict) k
    | _ -> ()) comparisons;
  let next t = Hashtbl.fold (fun (x, y, _) k found -> match Hashtbl.find_opt t x, Hashtbl.find_opt t y with
    | _, Some [ l ] when t == d.below -> (x, [ k; l ]) :: found
    | Some [ l ], _ when t == d.above -> (y, [ k; l ]) :: found
    | _ -> found) d.told [] in
  let more = List.map (fun t -> t, next t) [ d.below; d.above ] in
  List.iter (fun (t, found) -> List.iter (fun (x, l) -> note t x l) found) more;
  d

(* What follows strictly also follows if it need not be strict; "=" does not follow from this. *)
let direct_sums ~equal =
  let made = remembered direct in
  fun comparisons asked ->
    let d = made comparisons in
    let of_ t x = Hashtbl.find_opt t x in
    let both x y = match of_ d.below x, of_ d.above y with Some l, Some l' -> Some (l @ l') | _ -> None in
    let first l = List.find_map (fun f -> f ()) l in
    let found = match asked.low.whence, asked.high.whence with
      | Zero, Zero -> Hashtbl.fold (fun x _ found -> if found = None then both x x else found) d.below None
      | Held x, Insample -> of_ d.below x
      | Insample, Held y -> of_ d.above y
      | Held x, Held y ->
          let fact strict () = Option.map (fun k -> [ k ]) (Hashtbl.find_opt d.told (x, y, strict)) in
          let strictly = [ fact true; (fun () -> both x y) ] in
          first (if asked.strict then strictly else if equal then [ fact false ] else fact false :: strictly)
      | _ -> None in
    List.map (fun k -> k, one) (Option.value found ~default:[])
