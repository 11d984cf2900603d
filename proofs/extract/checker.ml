
(** val xorb : bool -> bool -> bool **)

let xorb b1 b2 =
  if b1 then if b2 then false else true else b2

(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : int -> int -> int **)let rec add = (+)
end
include Coq__1

(** val sub : int -> int -> int **)

let rec sub = fun n m -> Stdlib.max 0 (n-m)

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module Nat =
 struct
  (** val sub : int -> int -> int **)

  let rec sub n m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> n)
      (fun k ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> n)
        (fun l -> sub k l)
        m)
      n

  (** val ltb : int -> int -> bool **)

  let ltb n m =
    (<=) (Stdlib.Int.succ n) m

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q0 u =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (q0, u))
      (fun x' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> divmod x' y (Stdlib.Int.succ q0) y)
        (fun u' -> divmod x' y q0 u')
        u)
      x

  (** val div : int -> int -> int **)

  let div x y =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> y)
      (fun y' -> fst (divmod x y' 0 y'))
      y

  (** val modulo : int -> int -> int **)

  let modulo x y =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> x)
      (fun y' -> sub y' (snd (divmod x y' 0 y')))
      y
 end

type positive =
| XI of positive
| XO of positive
| XH

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> XO (add_carry p q0)
       | XO q0 -> XI (add p q0)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q0 -> XI (add p q0)
       | XO q0 -> XO (add p q0)
       | XH -> XI p)
    | XH -> (match y with
             | XI q0 -> XO (succ q0)
             | XO q0 -> XI q0
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> XI (add_carry p q0)
       | XO q0 -> XO (add_carry p q0)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q0 -> XO (add_carry p q0)
       | XO q0 -> XI (add p q0)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q0 -> XI (succ q0)
       | XO q0 -> XO (succ q0)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos XH
  | IsPos p -> IsPos (XI p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos (XO p)
  | x0 -> x0

  (** val double_pred_mask : positive -> mask **)

  let double_pred_mask = function
  | XI p -> IsPos (XO (XO p))
  | XO p -> IsPos (XO (pred_double p))
  | XH -> IsNul

  (** val sub_mask : positive -> positive -> mask **)

  let rec sub_mask x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> double_mask (sub_mask p q0)
       | XO q0 -> succ_double_mask (sub_mask p q0)
       | XH -> IsPos (XO p))
    | XO p ->
      (match y with
       | XI q0 -> succ_double_mask (sub_mask_carry p q0)
       | XO q0 -> double_mask (sub_mask p q0)
       | XH -> IsPos (pred_double p))
    | XH -> (match y with
             | XH -> IsNul
             | _ -> IsNeg)

  (** val sub_mask_carry : positive -> positive -> mask **)

  and sub_mask_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> succ_double_mask (sub_mask_carry p q0)
       | XO q0 -> double_mask (sub_mask p q0)
       | XH -> IsPos (pred_double p))
    | XO p ->
      (match y with
       | XI q0 -> double_mask (sub_mask_carry p q0)
       | XO q0 -> succ_double_mask (sub_mask_carry p q0)
       | XH -> double_pred_mask p)
    | XH -> IsNeg

  (** val sub : positive -> positive -> positive **)

  let sub x y =
    match sub_mask x y with
    | IsPos z0 -> z0
    | _ -> XH

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val size_nat : positive -> int **)

  let rec size_nat = function
  | XI p0 -> Stdlib.Int.succ (size_nat p0)
  | XO p0 -> Stdlib.Int.succ (size_nat p0)
  | XH -> Stdlib.Int.succ 0

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> compare_cont r p q0
       | XO q0 -> compare_cont Gt p q0
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q0 -> compare_cont Lt p q0
       | XO q0 -> compare_cont r p q0
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q0 =
    match p with
    | XI p0 -> (match q0 with
                | XI q1 -> eqb p0 q1
                | _ -> false)
    | XO p0 -> (match q0 with
                | XO q1 -> eqb p0 q1
                | _ -> false)
    | XH -> (match q0 with
             | XH -> true
             | _ -> false)

  (** val ggcdn :
      int -> positive -> positive -> positive * (positive * positive) **)

  let rec ggcdn n a b =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (XH, (a, b)))
      (fun n0 ->
      match a with
      | XI a' ->
        (match b with
         | XI b' ->
           (match compare a' b' with
            | Eq -> (a, (XH, XH))
            | Lt ->
              let (g, p) = ggcdn n0 (sub b' a') a in
              let (ba, aa) = p in (g, (aa, (add aa (XO ba))))
            | Gt ->
              let (g, p) = ggcdn n0 (sub a' b') b in
              let (ab, bb) = p in (g, ((add bb (XO ab)), bb)))
         | XO b0 ->
           let (g, p) = ggcdn n0 a b0 in
           let (aa, bb) = p in (g, (aa, (XO bb)))
         | XH -> (XH, (a, XH)))
      | XO a0 ->
        (match b with
         | XI _ ->
           let (g, p) = ggcdn n0 a0 b in
           let (aa, bb) = p in (g, ((XO aa), bb))
         | XO b0 -> let (g, p) = ggcdn n0 a0 b0 in ((XO g), p)
         | XH -> (XH, (a, XH)))
      | XH -> (XH, (XH, b)))
      n

  (** val ggcd : positive -> positive -> positive * (positive * positive) **)

  let ggcd a b =
    ggcdn (Coq__1.add (size_nat a) (size_nat b)) a b
 end

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n l default =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t -> nth m t default)
    n

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n0 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n0 l0))
    n

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> l)
    (fun n0 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n0 l0)
    n

(** val seq : int -> int -> int list **)

let rec seq start len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start :: (seq (Stdlib.Int.succ start) len0))
    len

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Coq_Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Coq_Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q0 -> double (pos_sub p q0)
       | XO q0 -> succ_double (pos_sub p q0)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q0 -> pred_double (pos_sub p q0)
       | XO q0 -> double (pos_sub p q0)
       | XH -> Zpos (Coq_Pos.pred_double p))
    | XH ->
      (match y with
       | XI q0 -> Zneg (XO q0)
       | XO q0 -> Zneg (Coq_Pos.pred_double q0)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Coq_Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Coq_Pos.add x' y'))

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

  (** val sub : z -> z -> z **)

  let sub m n =
    add m (opp n)

  (** val mul : z -> z -> z **)

  let mul x y =
    match x with
    | Z0 -> Z0
    | Zpos x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zpos (Coq_Pos.mul x' y')
       | Zneg y' -> Zneg (Coq_Pos.mul x' y'))
    | Zneg x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zneg (Coq_Pos.mul x' y')
       | Zneg y' -> Zpos (Coq_Pos.mul x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Coq_Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Coq_Pos.compare x' y')
       | _ -> Lt)

  (** val sgn : z -> z **)

  let sgn = function
  | Z0 -> Z0
  | Zpos _ -> Zpos XH
  | Zneg _ -> Zneg XH

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val eqb : z -> z -> bool **)

  let eqb x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> true
             | _ -> false)
    | Zpos p -> (match y with
                 | Zpos q0 -> Coq_Pos.eqb p q0
                 | _ -> false)
    | Zneg p -> (match y with
                 | Zneg q0 -> Coq_Pos.eqb p q0
                 | _ -> false)

  (** val abs : z -> z **)

  let abs = function
  | Zneg p -> Zpos p
  | x -> x

  (** val to_pos : z -> positive **)

  let to_pos = function
  | Zpos p -> p
  | _ -> XH

  (** val pos_div_eucl : positive -> z -> z * z **)

  let rec pos_div_eucl a b =
    match a with
    | XI a' ->
      let (q0, r) = pos_div_eucl a' b in
      let r' = add (mul (Zpos (XO XH)) r) (Zpos XH) in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q0), r')
      else ((add (mul (Zpos (XO XH)) q0) (Zpos XH)), (sub r' b))
    | XO a' ->
      let (q0, r) = pos_div_eucl a' b in
      let r' = mul (Zpos (XO XH)) r in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q0), r')
      else ((add (mul (Zpos (XO XH)) q0) (Zpos XH)), (sub r' b))
    | XH -> if leb (Zpos (XO XH)) b then (Z0, (Zpos XH)) else ((Zpos XH), Z0)

  (** val div_eucl : z -> z -> z * z **)

  let div_eucl a b =
    match a with
    | Z0 -> (Z0, Z0)
    | Zpos a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ -> pos_div_eucl a' b
       | Zneg b' ->
         let (q0, r) = pos_div_eucl a' (Zpos b') in
         (match r with
          | Z0 -> ((opp q0), Z0)
          | _ -> ((opp (add q0 (Zpos XH))), (add b r))))
    | Zneg a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ ->
         let (q0, r) = pos_div_eucl a' b in
         (match r with
          | Z0 -> ((opp q0), Z0)
          | _ -> ((opp (add q0 (Zpos XH))), (sub b r)))
       | Zneg b' -> let (q0, r) = pos_div_eucl a' (Zpos b') in (q0, (opp r)))

  (** val div : z -> z -> z **)

  let div a b =
    let (q0, _) = div_eucl a b in q0

  (** val modulo : z -> z -> z **)

  let modulo a b =
    let (_, r) = div_eucl a b in r

  (** val ggcd : z -> z -> z * (z * z) **)

  let ggcd a b =
    match a with
    | Z0 -> ((abs b), (Z0, (sgn b)))
    | Zpos a0 ->
      (match b with
       | Z0 -> ((abs a), ((sgn a), Z0))
       | Zpos b0 ->
         let (g, p) = Coq_Pos.ggcd a0 b0 in
         let (aa, bb) = p in ((Zpos g), ((Zpos aa), (Zpos bb)))
       | Zneg b0 ->
         let (g, p) = Coq_Pos.ggcd a0 b0 in
         let (aa, bb) = p in ((Zpos g), ((Zpos aa), (Zneg bb))))
    | Zneg a0 ->
      (match b with
       | Z0 -> ((abs a), ((sgn a), Z0))
       | Zpos b0 ->
         let (g, p) = Coq_Pos.ggcd a0 b0 in
         let (aa, bb) = p in ((Zpos g), ((Zneg aa), (Zpos bb)))
       | Zneg b0 ->
         let (g, p) = Coq_Pos.ggcd a0 b0 in
         let (aa, bb) = p in ((Zpos g), ((Zneg aa), (Zneg bb))))
 end

(** val zeq_bool : z -> z -> bool **)

let zeq_bool x y =
  match Z.compare x y with
  | Eq -> true
  | _ -> false

type q = { qnum : z; qden : positive }

(** val inject_Z : z -> q **)

let inject_Z x =
  { qnum = x; qden = XH }

(** val qeq_bool : q -> q -> bool **)

let qeq_bool x y =
  zeq_bool (Z.mul x.qnum (Zpos y.qden)) (Z.mul y.qnum (Zpos x.qden))

(** val qle_bool : q -> q -> bool **)

let qle_bool x y =
  Z.leb (Z.mul x.qnum (Zpos y.qden)) (Z.mul y.qnum (Zpos x.qden))

(** val qplus : q -> q -> q **)

let qplus x y =
  { qnum = (Z.add (Z.mul x.qnum (Zpos y.qden)) (Z.mul y.qnum (Zpos x.qden)));
    qden = (Coq_Pos.mul x.qden y.qden) }

(** val qmult : q -> q -> q **)

let qmult x y =
  { qnum = (Z.mul x.qnum y.qnum); qden = (Coq_Pos.mul x.qden y.qden) }

(** val qopp : q -> q **)

let qopp x =
  { qnum = (Z.opp x.qnum); qden = x.qden }

(** val qminus : q -> q -> q **)

let qminus x y =
  qplus x (qopp y)

(** val qred : q -> q **)

let qred q0 =
  let { qnum = q1; qden = q2 } = q0 in
  let (r1, r2) = snd (Z.ggcd q1 (Zpos q2)) in
  { qnum = r1; qden = (Z.to_pos r2) }

(** val qfloor : q -> z **)

let qfloor x =
  let { qnum = n; qden = d0 } = x in Z.div n (Zpos d0)

type law =
| Laplace
| Exponential
| Exact

type place =
| Zero
| Insample
| Held of int

type term = { negative : bool; whence : place; plus : q }

type atom = { low : term; high : term; strict : bool }

type item =
| Sym of int
| Number of term * term
| Other

type stat = { reads : bool; law_of : law; d : q; mu : q; law_of' : law;
              d' : q; mu' : q; factors : (int * q) list }

type update = { from : int option; adds : bool }

type trans = { src : int; tgt : int; t_ge : int list; t_lt : int list;
               others : atom list; asg : int list;
               copies : (int * term) list; sets : (int * update) list;
               out : item list }

type pattern = (int option * int option) list

type automaton = { initial : int; states : stat list;
                   transitions : trans list; differ : pattern }

(** val stat0 : stat **)

let stat0 =
  { reads = false; law_of = Laplace; d = { qnum = Z0; qden = XH }; mu =
    { qnum = Z0; qden = XH }; law_of' = Laplace; d' = { qnum = Z0; qden =
    XH }; mu' = { qnum = Z0; qden = XH }; factors = [] }

(** val trans0 : trans **)

let trans0 =
  { src = 0; tgt = 0; t_ge = []; t_lt = []; others = []; asg = []; copies =
    []; sets = []; out = [] }

(** val st : automaton -> int -> stat **)

let st a q0 =
  nth q0 a.states stat0

(** val tr : automaton -> int -> trans **)

let tr a i =
  nth i a.transitions trans0

(** val leaving : automaton -> int -> int list **)

let leaving a q0 =
  filter (fun i -> (=) (tr a i).src q0) (seq 0 (length a.transitions))

(** val mem : int -> int list -> bool **)

let mem x l =
  existsb ((=) x) l

(** val lookup : int -> (int * 'a1) list -> 'a1 option **)

let rec lookup x = function
| [] -> None
| p :: l' -> let (y, v) = p in if (=) x y then Some v else lookup x l'

(** val every_entry : pattern **)

let every_entry =
  ((Some 0), (Some 0)) :: []

(** val entries : int -> pattern **)

let entries most0 =
  app (map (fun k -> ((Some k), (Some (Stdlib.Int.succ k)))) (seq 0 most0))
    (((Some most0), None) :: [])

(** val window : int -> pattern **)

let window length0 =
  ((Some 0), (Some (Stdlib.Int.succ
    0))) :: (app
              (map (fun k -> ((Some (Stdlib.Int.succ k)), (Some
                (Stdlib.Int.succ k))))
                (seq (Stdlib.Int.succ 0) (sub length0 (Stdlib.Int.succ 0))))
              (((Some length0), None) :: []))

type 'x tree =
| Leaf
| Node of 'x * 'x tree * 'x tree

(** val get : 'a1 tree -> int -> 'a1 option **)

let rec get t n =
  match t with
  | Leaf -> None
  | Node (x, l, r) ->
    if (=) n 0
    then Some x
    else if (fun n -> n land 1 = 1) n
         then get l ((fun n -> n / 2) n)
         else get r (sub ((fun n -> n / 2) n) (Stdlib.Int.succ 0))

(** val push : 'a1 -> 'a1 tree -> 'a1 tree **)

let rec push x = function
| Leaf -> Node (x, Leaf, Leaf)
| Node (y, l, r) -> Node (x, (push y r), l)

(** val change : ('a1 -> 'a1) -> int -> 'a1 tree -> 'a1 tree **)

let rec change f n = function
| Leaf -> Leaf
| Node (x, l, r) ->
  if (=) n 0
  then Node ((f x), l, r)
  else if (fun n -> n land 1 = 1) n
       then Node (x, (change f ((fun n -> n / 2) n) l), r)
       else Node (x, l,
              (change f (sub ((fun n -> n / 2) n) (Stdlib.Int.succ 0)) r))

(** val array : 'a1 list -> 'a1 tree **)

let array l =
  fold_right push Leaf l

(** val at_place : 'a1 -> 'a1 tree -> int -> 'a1 **)

let at_place d0 t n =
  match get t n with
  | Some x -> x
  | None -> d0

(** val blank : int -> 'a1 list tree **)

let rec blank n =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> Leaf)
    (fun m -> push [] (blank m))
    n

(** val beyond : ('a1 -> int) -> 'a1 list -> int **)

let beyond key l =
  fold_right (fun x n ->
    if Nat.ltb (key x) n then n else Stdlib.Int.succ (key x)) 0 l

(** val index : ('a1 -> int) -> 'a1 list -> 'a1 list tree **)

let index key l =
  fold_right (fun x t -> change (fun x0 -> x :: x0) (key x) t)
    (blank (beyond key l)) l

(** val with_key : 'a1 list tree -> int -> 'a1 list **)

let with_key t k =
  match get t k with
  | Some l -> l
  | None -> []

type bnode = { b_state : int; b_facts : atom list;
               b_distinct : (term * term) list; b_apart : int;
               b_known : (int * q) list }

type ivs = (int * (q * q) option) list

type lnode = { l_base : int; l_pot : q; l_own : ivs }

type differs =
| Same
| Any
| Least
| Largest

type way = int * differs

type edge = (int * way) * int

type graph = { b_nodes : bnode list; b_edges : edge list; forward : bool;
               everywhere : ivs; l_nodes : lnode list; l_edges : edge list }

type claim = { c_low : q; c_high : q; c_sens : q; c_D : q }

type sums = (int * q) list

type hints = { stored : int list list; lesser : int list list;
               why : (atom list -> atom -> sums);
               between : (atom list -> atom list) }

type cert = { c_claim : claim; c_ground : graph; c_parts : graph list;
              c_layer : int list; c_hints : hints }

type grade = { shift_ok : (q -> bool); factor_ok : (q -> bool); mixes : 
               bool; only_ends : (q -> q -> bool); smooth : bool; whole : 
               bool }

(** val source : edge -> int **)

let source e =
  fst (fst e)

(** val via : edge -> way **)

let via e =
  snd (fst e)

(** val number : edge -> int **)

let number e =
  fst (via e)

(** val target : edge -> int **)

let target =
  snd

(** val bnode0 : bnode **)

let bnode0 =
  { b_state = 0; b_facts = []; b_distinct = []; b_apart = 0; b_known = [] }

(** val lnode0 : lnode **)

let lnode0 =
  { l_base = 0; l_pot = { qnum = Z0; qden = XH }; l_own = [] }

(** val numbers : 'a1 list -> int list **)

let numbers l =
  seq 0 (length l)

type view = { tr_of : (int -> trans); st_of : (int -> stat);
              leaving_of : (int -> int list); stored_of : (int -> int list);
              moves_of : (int -> int option * int option);
              lesser_of : (int -> int list);
              why_of : (atom list -> atom -> sums);
              between_of : (atom list -> atom list) }

type gview = { bn_of : (int -> bnode); out_of : (int -> edge list);
               ln_of : (int -> lnode); over_of : (int -> int list);
               from_of : (int -> edge list); to_of : (int -> edge list);
               by_of : (int -> edge list); every_of : (int -> ivs) }

(** val plain : automaton -> hints -> view **)

let plain a h =
  { tr_of = (tr a); st_of = (st a); leaving_of = (leaving a); stored_of =
    (fun q0 -> nth q0 h.stored []); moves_of = (fun k ->
    nth k a.differ (None, None)); lesser_of = (fun k -> nth k h.lesser []);
    why_of = h.why; between_of = h.between }

type trees = { tr_tree : trans tree; st_tree : stat tree;
               leaving_tree : int list tree; stored_tree : int list tree;
               moves_tree : (int option * int option) tree;
               lesser_tree : int list tree;
               why_tree : (atom list -> atom -> sums);
               between_tree : (atom list -> atom list) }

type gtrees = { bn_tree : bnode tree; out_tree : edge list tree;
                ln_tree : lnode tree; over_tree : int list tree;
                from_tree : edge list tree; to_tree : edge list tree;
                by_tree : edge list tree;
                every_tree : (int * (q * q) option) list tree }

(** val grow : automaton -> hints -> trees **)

let grow a h =
  let t = array a.transitions in
  { tr_tree = t; st_tree = (array a.states); leaving_tree =
  (index (fun i -> (at_place trans0 t i).src) (numbers a.transitions));
  stored_tree = (array h.stored); moves_tree = (array a.differ);
  lesser_tree = (array h.lesser); why_tree = h.why; between_tree = h.between }

(** val ggrow : graph -> gtrees **)

let ggrow g =
  let n = array g.l_nodes in
  { bn_tree = (array g.b_nodes); out_tree = (index source g.b_edges);
  ln_tree = n; over_tree =
  (index (fun k -> (at_place lnode0 n k).l_base) (numbers g.l_nodes));
  from_tree = (index source g.l_edges); to_tree = (index target g.l_edges);
  by_tree = (index number g.l_edges); every_tree = (index fst g.everywhere) }

(** val by_trees : trees -> view **)

let by_trees t =
  { tr_of = (at_place trans0 t.tr_tree); st_of = (at_place stat0 t.st_tree);
    leaving_of = (with_key t.leaving_tree); stored_of =
    (at_place [] t.stored_tree); moves_of =
    (at_place (None, None) t.moves_tree); lesser_of =
    (at_place [] t.lesser_tree); why_of = t.why_tree; between_of =
    t.between_tree }

(** val by_gtrees : gtrees -> gview **)

let by_gtrees t =
  { bn_of = (at_place bnode0 t.bn_tree); out_of = (with_key t.out_tree);
    ln_of = (at_place lnode0 t.ln_tree); over_of = (with_key t.over_tree);
    from_of = (with_key t.from_tree); to_of = (with_key t.to_tree); by_of =
    (with_key t.by_tree); every_of = (with_key t.every_tree) }

(** val subset : int list -> int list -> bool **)

let subset l l' =
  forallb (fun x -> mem x l') l

(** val qlt_bool : q -> q -> bool **)

let qlt_bool x y =
  negb (qle_bool y x)

(** val nonempty : 'a1 list -> bool **)

let nonempty = function
| [] -> false
| _ :: _ -> true

(** val meets : int list -> int list -> bool **)

let meets l l' =
  existsb (fun x -> mem x l') l

(** val is_some : 'a1 option -> bool **)

let is_some = function
| Some _ -> true
| None -> false

(** val within : int list -> int list -> bool **)

let rec within l = function
| [] -> negb (nonempty l)
| y :: m' ->
  (match l with
   | [] -> true
   | x :: m -> if (=) x y then within m m' else within l m')

(** val without : int list -> int list -> int list **)

let without l l' =
  filter (fun x -> negb (mem x l')) l

(** val fits : q list -> q list -> bool **)

let fits f ce =
  match f with
  | [] -> true
  | f0 :: f' ->
    (match ce with
     | [] -> true
     | c :: c' ->
       qle_bool (fold_right (fun x m -> if qle_bool x m then m else x) f0 f')
         (fold_right (fun x m -> if qle_bool x m then x else m) c c'))

(** val zero : term **)

let zero =
  { negative = false; whence = Zero; plus = { qnum = Z0; qden = XH } }

(** val insample : term **)

let insample =
  { negative = false; whence = Insample; plus = { qnum = Z0; qden = XH } }

(** val is_sample : term -> bool **)

let is_sample v =
  match v.whence with
  | Insample -> true
  | _ -> false

(** val held_by : term -> int list **)

let held_by v =
  match v.whence with
  | Held x -> x :: []
  | _ -> []

(** val terms_of : item -> term list **)

let terms_of = function
| Number (a, b) -> a :: (b :: [])
| _ -> []

(** val is_other : item -> bool **)

let is_other = function
| Other -> true
| _ -> false

(** val shows_other : trans -> bool **)

let shows_other t =
  existsb is_other t.out

(** val terms : trans -> term list **)

let terms t =
  app (flat_map (fun a -> a.low :: (a.high :: [])) t.others)
    (flat_map terms_of t.out)

(** val uses : trans -> bool **)

let uses t =
  (||) ((||) ((||) (nonempty t.t_ge) (nonempty t.t_lt)) (nonempty t.asg))
    (existsb is_sample (terms t))

(** val read : trans -> int list **)

let read t =
  app t.t_ge
    (app t.t_lt
      (app (flat_map held_by (terms t))
        (flat_map (fun c -> held_by (snd c)) t.copies)))

(** val gets : trans -> int list **)

let gets t =
  app t.asg (map fst t.copies)

(** val place_eqb : place -> place -> bool **)

let place_eqb p q0 =
  match p with
  | Zero -> (match q0 with
             | Zero -> true
             | _ -> false)
  | Insample -> (match q0 with
                 | Insample -> true
                 | _ -> false)
  | Held x -> (match q0 with
               | Held y -> (=) x y
               | _ -> false)

(** val same_place : term -> term -> bool **)

let same_place v w =
  (&&) (eqb v.negative w.negative) (place_eqb v.whence w.whence)

(** val minus : term -> term **)

let minus v =
  { negative = (negb v.negative); whence = v.whence; plus = (qopp v.plus) }

(** val atoms : trans -> atom list **)

let atoms t =
  app
    (map (fun x -> { low = { negative = false; whence = (Held x); plus =
      { qnum = Z0; qden = XH } }; high = insample; strict = false }) t.t_ge)
    (app
      (map (fun x -> { low = insample; high = { negative = false; whence =
        (Held x); plus = { qnum = Z0; qden = XH } }; strict = true }) t.t_lt)
      t.others)

type form = (place * q) list

(** val put : place -> q -> form -> form **)

let rec put p q0 = function
| [] -> (p, q0) :: []
| p0 :: f' ->
  let (p', q') = p0 in
  if place_eqb p p'
  then (p', (qred (qplus q0 q'))) :: f'
  else (p', q') :: (put p q0 f')

(** val put_term : q -> term -> form -> form **)

let put_term q0 v f =
  put v.whence (if v.negative then qopp q0 else q0) f

(** val put_atom : q -> atom -> form -> form **)

let put_atom q0 a f =
  put_term q0 a.low (put_term (qopp q0) a.high f)

(** val vanishes : form -> bool **)

let vanishes f =
  forallb (fun p ->
    (||) (place_eqb (fst p) Zero) (qeq_bool (snd p) { qnum = Z0; qden = XH }))
    f

(** val trivial : atom **)

let trivial =
  { low = zero; high = zero; strict = false }

(** val taken_from : atom list -> sums -> (atom * q) list **)

let taken_from k l =
  map (fun p -> ((nth (fst p) k trivial), (snd p))) l

(** val over : atom -> q **)

let over a =
  qminus a.low.plus a.high.plus

(** val bound_by : (atom * q) list -> atom -> (q * bool) option **)

let bound_by l a =
  if (&&) (forallb (fun p -> qle_bool { qnum = Z0; qden = XH } (snd p)) l)
       (vanishes
         (fold_right (fun p -> put_atom (snd p) (fst p))
           (put_atom (qopp { qnum = (Zpos XH); qden = XH }) a []) l))
  then Some
         ((fold_right (fun p m ->
            qred (qminus m (qmult (snd p) (over (fst p))))) (over a) l),
         (existsb (fun p ->
           (&&) (fst p).strict (qlt_bool { qnum = Z0; qden = XH } (snd p))) l))
  else None

(** val asked : trans -> (term * term) list **)

let asked t =
  app (map (fun a -> (a.low, a.high)) t.others)
    (flat_map (fun i ->
      match i with
      | Number (a, b) -> (a, b) :: ((b, a) :: [])
      | _ -> []) t.out)

(** val uses_mean : trans -> bool **)

let uses_mean t =
  (||) (uses t) (shows_other t)

(** val is_live : law -> q -> bool **)

let is_live l d0 =
  match l with
  | Exact -> true
  | _ -> qlt_bool { qnum = Z0; qden = XH } d0

(** val integer_to : q -> bool -> q **)

let integer_to q0 below =
  inject_Z
    (if below then Z.sub (Z.opp (qfloor (qopp q0))) (Zpos XH) else qfloor q0)

(** val rounded : atom -> atom **)

let rounded a =
  let bare = fun v -> { negative = v.negative; whence = v.whence; plus =
    { qnum = Z0; qden = XH } }
  in
  { low = (bare a.low); high = { negative = a.high.negative; whence =
  a.high.whence; plus = (integer_to (qopp (over a)) a.strict) }; strict =
  false }

(** val bound : view -> bool -> atom list -> atom -> (q * bool) option **)

let bound v w k a =
  match bound_by (taken_from k (v.why_of k a)) a with
  | Some p ->
    let (q0, unreached0) = p in
    if w
    then Some ((qplus (integer_to (qminus q0 (over a)) unreached0) (over a)),
           false)
    else Some (q0, unreached0)
  | None -> None

(** val follows : view -> bool -> atom list -> atom -> bool **)

let follows v w k a =
  match bound v w k a with
  | Some p ->
    let (q0, unreached0) = p in
    (||) (qlt_bool q0 { qnum = Z0; qden = XH })
      ((&&) (qle_bool q0 { qnum = Z0; qden = XH })
        ((||) unreached0 (negb a.strict)))
  | None -> false

(** val impossible : view -> bool -> atom list -> bool **)

let impossible v w k =
  follows v w k { low = zero; high = zero; strict = true }

(** val given : view -> atom list -> term -> bool **)

let given v k v0 =
  match bound v false k { low = v0; high = zero; strict = false } with
  | Some p ->
    let (above, _) = p in
    (match bound v false k { low = zero; high = v0; strict = false } with
     | Some p0 ->
       let (below, _) = p0 in
       qle_bool (qplus above below) { qnum = Z0; qden = XH }
     | None -> false)
  | None -> false

(** val sharpened : view -> bool -> atom list -> atom list **)

let sharpened v w k =
  if w
  then let k' = map rounded k in
       app k' (filter (follows v w k') (v.between_of k'))
  else k

(** val fresh : grade -> view -> trans -> bool **)

let fresh g v t =
  let s = v.st_of t.src in
  (&&) g.smooth
    (match s.law_of with
     | Exact -> false
     | _ -> qlt_bool { qnum = Z0; qden = XH } s.d)

(** val fresh_pair : grade -> view -> trans -> term -> term -> bool **)

let fresh_pair g v t v0 w =
  (&&) ((&&) (fresh g v t) ((||) (is_sample v0) (is_sample w)))
    (negb (same_place v0 w))

(** val stricter : bool -> atom -> atom **)

let stricter b a =
  { low = a.low; high = a.high; strict = ((||) a.strict b) }

(** val support : view -> trans -> atom list **)

let support v t =
  let s = v.st_of t.src in
  let m = { negative = false; whence = Zero; plus = s.mu } in
  if (||) ((||) s.reads (nonempty s.factors)) (negb (uses t))
  then []
  else (match s.law_of with
        | Laplace -> []
        | Exponential -> { low = m; high = insample; strict = false } :: []
        | Exact ->
          { low = m; high = insample; strict = false } :: ({ low = insample;
            high = m; strict = false } :: []))

(** val sure : grade -> view -> trans -> atom list **)

let sure g v t =
  app (map (fun a -> stricter (fresh_pair g v t a.low a.high) a) (atoms t))
    (support v t)

(** val opposite : grade -> view -> trans -> trans -> bool **)

let opposite g v t t' =
  (||) ((||) (meets t.t_ge t'.t_lt) (meets t.t_lt t'.t_ge))
    (impossible v false (app (sure g v t) (sure g v t')))

(** val check_trans : grade -> view -> int -> bool **)

let check_trans g v i =
  let t = v.tr_of i in
  let s = v.st_of t.src in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) ((||) (negb (uses t)) (is_live s.law_of s.d))
              ((||) (negb (shows_other t)) (is_live s.law_of' s.d')))
            ((<=) (length (filter is_other t.out)) (Stdlib.Int.succ 0)))
          (forallb (fun c -> negb (is_sample (snd c))) t.copies))
        (forallb (fun j -> (||) ((=) i j) (opposite g v t (v.tr_of j)))
          (v.leaving_of t.src))) (subset (read t) (v.stored_of t.src)))
    (within (without (v.stored_of t.tgt) (gets t)) (v.stored_of t.src))

(** val allows_too : view -> int -> int option -> int option -> bool **)

let allows_too v size to0 to' =
  match to0 with
  | Some j ->
    (match to' with
     | Some k -> (&&) (Nat.ltb k size) (mem j (v.lesser_of k))
     | None -> false)
  | None -> true

(** val check_lesser : view -> int -> int -> bool **)

let check_lesser v size k =
  (&&)
    (match fst (v.moves_of k) with
     | Some j -> Nat.ltb j size
     | None -> false)
    (forallb (fun j ->
      (&&) (allows_too v size (fst (v.moves_of j)) (fst (v.moves_of k)))
        (allows_too v size (snd (v.moves_of j)) (snd (v.moves_of k))))
      (v.lesser_of k))

(** val check_whole : grade -> automaton -> bool **)

let check_whole g a =
  (||) (negb g.whole)
    ((&&) (forallb (fun s -> g.shift_ok s.mu) a.states)
      (forallb (fun t -> forallb (fun c -> g.shift_ok (snd c).plus) t.copies)
        a.transitions))

(** val check_model : grade -> automaton -> view -> bool **)

let check_model g a v =
  (&&)
    ((&&)
      ((&&) (forallb (check_trans g v) (numbers a.transitions))
        (negb (nonempty (v.stored_of a.initial))))
      (forallb (check_lesser v (length a.differ)) (numbers a.differ)))
    ((&&)
      (forallb (fun s -> forallb (fun p -> g.factor_ok (snd p)) s.factors)
        a.states) (check_whole g a))

(** val check_claim : claim -> bool **)

let check_claim c =
  (&&)
    ((&&) (qle_bool c.c_low { qnum = Z0; qden = XH })
      (qle_bool { qnum = Z0; qden = XH } c.c_high))
    (qlt_bool { qnum = Z0; qden = XH } c.c_sens)

(** val entry_of : claim -> differs -> q * q **)

let entry_of c l =
  let lo = qmult c.c_sens c.c_low in
  let hi = qmult c.c_sens c.c_high in
  (match l with
   | Same -> ({ qnum = Z0; qden = XH }, { qnum = Z0; qden = XH })
   | Any -> (lo, hi)
   | Least -> (lo, lo)
   | Largest -> (hi, hi))

(** val differs_eqb : differs -> differs -> bool **)

let differs_eqb l l' =
  match l with
  | Same -> (match l' with
             | Same -> true
             | _ -> false)
  | Any -> (match l' with
            | Any -> true
            | _ -> false)
  | Least -> (match l' with
              | Least -> true
              | _ -> false)
  | Largest -> (match l' with
                | Largest -> true
                | _ -> false)

(** val way_eqb : way -> way -> bool **)

let way_eqb w w' =
  (&&) ((=) (fst w) (fst w')) (differs_eqb (snd w) (snd w'))

(** val goal : gview -> int -> way -> int option **)

let goal w v w0 =
  match find (fun e -> way_eqb (via e) w0) (w.out_of v) with
  | Some e -> Some (target e)
  | None -> None

(** val like : term -> term -> bool **)

let like v w =
  (&&) (place_eqb v.whence w.whence)
    ((||) (eqb v.negative w.negative) (place_eqb v.whence Zero))

(** val alike_pairs : (term * term) -> (term * term) -> bool **)

let alike_pairs p q0 =
  let (v, w) = p in
  let (x, y) = q0 in
  (||)
    ((||) ((||) ((&&) (like v x) (like w y)) ((&&) (like v y) (like w x)))
      ((&&) (like v (minus x)) (like w (minus y))))
    ((&&) (like v (minus y)) (like w (minus x)))

(** val distinct : bnode -> term -> term -> bool **)

let distinct b v w =
  existsb (alike_pairs (v, w)) b.b_distinct

(** val parted : view -> bnode -> atom list -> atom -> bool **)

let parted v b k a =
  (||)
    ((||) (distinct b a.low a.high)
      ((&&) (distinct b zero a.high) (given v k a.low)))
    ((&&) (distinct b a.low zero) (given v k a.high))

(** val told : grade -> view -> bnode -> trans -> atom list **)

let told g v b t =
  let k = app b.b_facts (sure g v t) in
  if nonempty b.b_distinct
  then app k (map (stricter true) (filter (parted v b k) (sure g v t)))
  else k

(** val known : grade -> view -> bnode -> trans -> atom list **)

let known g v b t =
  sharpened v g.whole (told g v b t)

(** val as_before : trans -> term -> term **)

let as_before t v =
  match v.whence with
  | Held x ->
    if mem x t.asg
    then { negative = v.negative; whence = Insample; plus = v.plus }
    else (match lookup x t.copies with
          | Some u ->
            let u0 = if v.negative then minus u else u in
            { negative = u0.negative; whence = u0.whence; plus =
            (qplus u0.plus v.plus) }
          | None -> v)
  | _ -> v

(** val fact_follows : grade -> view -> trans -> atom list -> atom -> bool **)

let fact_follows g v t k a =
  follows v g.whole k { low = (as_before t a.low); high =
    (as_before t a.high); strict = a.strict }

(** val distinct_follows :
    grade -> view -> bnode -> trans -> (term * term) -> bool **)

let distinct_follows g v b t p =
  let v0 = as_before t (fst p) in
  let w = as_before t (snd p) in
  (||) (distinct b v0 w) (fresh_pair g v t v0 w)

(** val idle : trans -> (int * q) list -> bool **)

let idle t known0 =
  (&&) (negb (uses_mean t))
    (forallb (fun p ->
      match lookup (fst p) t.sets with
      | Some u -> negb u.adds
      | None -> true) known0)

(** val check_ways :
    grade -> automaton -> view -> claim -> gview -> bool -> int -> int -> bool **)

let check_ways g a v c w tells v0 i =
  let t = v.tr_of i in
  let has = fun l -> is_some (goal w v0 (i, l)) in
  if (&&) tells (v.st_of t.src).reads
  then let (equal, other) = v.moves_of (w.bn_of v0).b_apart in
       let alike0 =
         match equal with
         | Some a0 -> (match other with
                       | Some b -> (=) a0 b
                       | None -> false)
         | None -> false
       in
       (&&)
         ((||)
           ((||) (has Same)
             ((&&) alike0
               ((||) (has Any)
                 ((&&) ((&&) g.mixes (has Least)) (has Largest)))))
           (negb (is_some equal)))
         ((||)
           ((||)
             ((||) (has Any)
               ((&&) ((&&) (has Least) (has Largest))
                 ((||) g.mixes
                   (let (lo, hi) = entry_of c Any in g.only_ends lo hi))))
             (match goal w v0 (i, Same) with
              | Some v' ->
                (&&) (idle t (w.bn_of v').b_known)
                  (allows_too v (length a.differ) other equal)
              | None -> false)) (negb (is_some other)))
  else has Same

(** val check_base_step :
    grade -> automaton -> view -> claim -> gview -> bool -> int -> int -> bool **)

let check_base_step g a v c w tells v0 i =
  let b = w.bn_of v0 in
  let t = v.tr_of i in
  let k = known g v b t in
  (||) (impossible v g.whole k)
    ((&&)
      (forallb (fun e ->
        (||) (negb ((=) (number e) i))
          ((&&) (forallb (fact_follows g v t k) (w.bn_of (target e)).b_facts)
            (forallb (distinct_follows g v b t)
              (w.bn_of (target e)).b_distinct))) (w.out_of v0))
      (check_ways g a v c w tells v0 i))

(** val register_follows :
    claim -> trans -> differs -> (int * q) list -> (int * q) -> bool **)

let register_follows c t l known0 = function
| (x, after0) ->
  (match lookup x t.sets with
   | Some u ->
     let (lo, hi) = entry_of c l in
     (match match u.from with
            | Some y -> lookup y known0
            | None -> Some { qnum = Z0; qden = XH } with
      | Some before ->
        if u.adds
        then (&&) (qeq_bool lo hi) (qeq_bool after0 (qplus before lo))
        else qeq_bool after0 before
      | None -> false)
   | None ->
     (match lookup x known0 with
      | Some before -> qeq_bool after0 before
      | None -> false))

(** val pattern_follows :
    view -> bool -> trans -> differs -> int -> int -> bool **)

let pattern_follows v tells t l k k' =
  if (&&) tells (v.st_of t.src).reads
  then let (equal, other) = v.moves_of k in
       (match match l with
              | Same -> equal
              | _ -> other with
        | Some j -> (=) j k'
        | None -> false)
  else (&&) (differs_eqb l Same) ((=) k k')

(** val check_base_edge :
    automaton -> view -> claim -> graph -> gview -> bool -> edge -> bool **)

let check_base_edge a v c g w tells = function
| (p, v') ->
  let (v0, w0) = p in
  let (i, l) = w0 in
  let t = v.tr_of i in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (Nat.ltb v0 (length g.b_nodes))
              (Nat.ltb i (length a.transitions)))
            (Nat.ltb v' (length g.b_nodes))) ((=) t.src (w.bn_of v0).b_state))
        ((=) t.tgt (w.bn_of v').b_state))
      (pattern_follows v tells t l (w.bn_of v0).b_apart (w.bn_of v').b_apart))
    (forallb (register_follows c t l (w.bn_of v0).b_known)
      (w.bn_of v').b_known)

(** val lasting : (term * term) -> bool **)

let lasting p =
  (&&) (negb (is_sample (fst p))) (negb (is_sample (snd p)))

(** val check_base :
    grade -> automaton -> view -> claim -> graph -> gview -> bool -> bool **)

let check_base g a v c g0 w tells =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&) (Nat.ltb 0 (length g0.b_nodes))
                  ((=) (w.bn_of 0).b_state a.initial))
                (negb (nonempty (w.bn_of 0).b_facts)))
              (negb (nonempty (w.bn_of 0).b_distinct)))
            ((=) (w.bn_of 0).b_apart 0))
          (negb (nonempty (w.bn_of 0).b_known)))
        (forallb (fun b ->
          forallb lasting
            (app (map (fun a0 -> (a0.low, a0.high)) b.b_facts) b.b_distinct))
          g0.b_nodes))
      (forallb (check_base_edge a v c g0 w tells) g0.b_edges))
    (forallb (fun v0 ->
      forallb (check_base_step g a v c w tells v0)
        (v.leaving_of (w.bn_of v0).b_state)) (numbers g0.b_nodes))

(** val assoc : int -> ivs -> (q * q) option option **)

let rec assoc x = function
| [] -> None
| p :: l' -> let (y, o) = p in if (=) x y then Some o else assoc x l'

(** val iv : gview -> int -> int -> (q * q) option **)

let iv w n x =
  match assoc x (w.ln_of n).l_own with
  | Some o -> o
  | None -> (match assoc x (w.every_of x) with
             | Some o -> o
             | None -> None)

(** val check_ivs : grade -> (int -> bool) -> ivs -> bool **)

let check_ivs g own l =
  forallb (fun p ->
    (&&) (own (fst p))
      (match snd p with
       | Some y ->
         let (lo, hi) = y in
         (&&) ((&&) (qle_bool lo hi) (g.shift_ok lo)) (g.shift_ok hi)
       | None -> true)) l

(** val check_shifts : grade -> graph -> (int -> bool) -> bool **)

let check_shifts g g0 own =
  (&&) (check_ivs g own g0.everywhere)
    (forallb (fun n -> check_ivs g own n.l_own) g0.l_nodes)

(** val has_edge_from : gview -> int -> way -> bool **)

let has_edge_from w n w0 =
  existsb (fun e -> way_eqb (via e) w0) (w.from_of n)

(** val has_edge_to : gview -> int -> way -> int -> bool **)

let has_edge_to w v w0 n' =
  existsb (fun e ->
    (&&) ((=) (w.ln_of (source e)).l_base v) (way_eqb (via e) w0))
    (w.to_of n')

(** val check_cover : graph -> gview -> bool **)

let check_cover g w =
  (&&) (nonempty (w.over_of 0))
    (forallb (fun e ->
      let (y, v') = e in
      let (v, w0) = y in
      if g.forward
      then forallb (fun n -> has_edge_from w n w0) (w.over_of v)
      else (&&) (nonempty (w.over_of v'))
             (forallb (has_edge_to w v w0) (w.over_of v'))) g.b_edges)

(** val keys : ivs -> int list **)

let keys l =
  map fst l

(** val check_kept : gview -> trans -> int -> int -> bool **)

let check_kept w t n n' =
  forallb (fun x ->
    (||) (mem x (gets t))
      (match iv w n' x with
       | Some p ->
         let (lo', hi') = p in
         (match iv w n x with
          | Some p0 ->
            let (lo, hi) = p0 in (&&) (qle_bool lo' lo) (qle_bool hi hi')
          | None -> false)
       | None -> true))
    (app (keys (w.ln_of n).l_own) (keys (w.ln_of n').l_own))

(** val ends : gview -> ((q * q) -> q) -> int -> int list -> q list **)

let ends w f n xs =
  flat_map (fun x -> match iv w n x with
                     | Some p -> (f p) :: []
                     | None -> []) xs

(** val turned : bool -> (q * q) -> q * q **)

let turned b p =
  if b then ((qopp (snd p)), (qopp (fst p))) else p

(** val shifts : gview -> int -> term -> (q * q) option **)

let shifts w n v =
  match v.whence with
  | Zero -> Some ({ qnum = Z0; qden = XH }, { qnum = Z0; qden = XH })
  | Insample -> None
  | Held x ->
    (match iv w n x with
     | Some p -> Some (turned v.negative p)
     | None -> None)

(** val check_copies : gview -> trans -> int -> int -> bool **)

let check_copies w t n n' =
  forallb (fun c ->
    match iv w n' (fst c) with
    | Some p ->
      let (lo', hi') = p in
      (match shifts w n (snd c) with
       | Some p0 ->
         let (lo, hi) = p0 in (&&) (qle_bool lo' lo) (qle_bool hi hi')
       | None -> false)
    | None -> true) t.copies

(** val ask : gview -> int -> (term * term) -> (q list * q list) option **)

let ask w n = function
| (a, b) ->
  if same_place a b
  then Some ([], [])
  else if is_sample a
       then if is_sample b
            then Some
                   (if a.negative
                    then ([], ({ qnum = Z0; qden = XH } :: []))
                    else (({ qnum = Z0; qden = XH } :: []), []))
            else (match shifts w n b with
                  | Some p0 ->
                    let (_, hi) = p0 in
                    Some
                    (if a.negative
                     then ([], ((qopp hi) :: []))
                     else ((hi :: []), []))
                  | None -> None)
       else if is_sample b
            then (match shifts w n a with
                  | Some p0 ->
                    let (lo, _) = p0 in
                    Some
                    (if b.negative
                     then (((qopp lo) :: []), [])
                     else ([], (lo :: [])))
                  | None -> None)
            else (match shifts w n a with
                  | Some p0 ->
                    let (lo, _) = p0 in
                    (match shifts w n b with
                     | Some p1 ->
                       let (_, hi) = p1 in
                       if qle_bool hi lo then Some ([], []) else None
                     | None -> None)
                  | None -> None)

(** val ask_floors : gview -> int -> (term * term) -> q list **)

let ask_floors w n p =
  match ask w n p with
  | Some p0 -> let (f, _) = p0 in f
  | None -> []

(** val ask_ceilings : gview -> int -> (term * term) -> q list **)

let ask_ceilings w n p =
  match ask w n p with
  | Some p0 -> let (_, ce) = p0 in ce
  | None -> []

(** val floors : gview -> trans -> int -> int -> q list **)

let floors w t n n' =
  app (ends w snd n t.t_lt)
    (app (ends w fst n' t.asg) (flat_map (ask_floors w n) (asked t)))

(** val ceilings : gview -> trans -> int -> int -> q list **)

let ceilings w t n n' =
  app (ends w fst n t.t_ge)
    (app (ends w snd n' t.asg) (flat_map (ask_ceilings w n) (asked t)))

(** val is_own : (int -> bool) -> (term * term) -> bool **)

let is_own own p =
  forallb own (app (held_by (fst p)) (held_by (snd p)))

(** val answered : view -> gview -> int -> (term * term) -> bool **)

let answered v w n p =
  is_some
    (bound v false (w.bn_of (w.ln_of n).l_base).b_facts { low = (fst p);
      high = (snd p); strict = false })

(** val check_ledge :
    view -> graph -> gview -> (int -> bool) -> edge -> bool **)

let check_ledge v g w own = function
| (p, n') ->
  let (n, w0) = p in
  let t = v.tr_of (fst w0) in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&) (Nat.ltb n (length g.l_nodes))
                (Nat.ltb n' (length g.l_nodes)))
              (match goal w (w.ln_of n).l_base w0 with
               | Some v' -> (=) v' (w.ln_of n').l_base
               | None -> false))
            (forallb (fun x -> (||) (negb (own x)) (is_some (iv w n x)))
              (app t.t_ge t.t_lt))) (check_kept w t n n'))
        (check_copies w t n n'))
      (forallb (fun p0 ->
        (||) ((||) (negb (is_own own p0)) (is_some (ask w n p0)))
          (answered v w n p0)) (asked t)))
    (fits (floors w t n n') (ceilings w t n n'))

(** val check_graph :
    grade -> automaton -> view -> claim -> graph -> gview -> bool -> (int ->
    bool) -> bool **)

let check_graph g a v c g0 w tells own =
  (&&)
    ((&&) ((&&) (check_base g a v c g0 w tells) (check_shifts g g0 own))
      (check_cover g0 w)) (forallb (check_ledge v g0 w own) g0.l_edges)

(** val rel : view -> trans -> q **)

let rel v t =
  if shows_other t then (v.st_of t.src).d' else { qnum = Z0; qden = XH }

(** val weighed_of : (int * q) list -> (int * q) list -> q option **)

let rec weighed_of known0 = function
| [] -> Some { qnum = Z0; qden = XH }
| p :: l' ->
  let (x, f) = p in
  (match lookup x known0 with
   | Some q0 ->
     (match weighed_of known0 l' with
      | Some m -> Some (qplus (qmult f q0) m)
      | None -> None)
   | None -> None)

(** val means :
    view -> claim -> trans -> differs -> (int * q) list -> (q * q) option **)

let means v c t l known0 =
  let (lo, hi) = entry_of c l in
  if uses_mean t
  then (match (v.st_of t.src).factors with
        | [] -> Some (lo, hi)
        | p :: l0 ->
          (match weighed_of known0 (p :: l0) with
           | Some m -> Some ((qplus lo m), (qplus hi m))
           | None -> None))
  else Some (lo, hi)

(** val misses : q list -> q list -> q -> q list **)

let misses f ce d0 =
  { qnum = Z0; qden =
    XH } :: (app (map (fun f0 -> qminus f0 d0) f)
              (map (fun c -> qminus d0 c) ce))

(** val check_law : law -> q list -> q list -> q -> bool **)

let check_law l f ce d0 =
  match l with
  | Laplace -> true
  | Exponential -> forallb (fun f0 -> qle_bool f0 d0) f
  | Exact ->
    (&&) (forallb (fun f0 -> qle_bool f0 d0) f) (forallb (qle_bool d0) ce)

(** val check_cost :
    view -> trans -> (q * q) -> q list -> q list -> q -> bool **)

let check_cost v t apart0 f ce paid0 =
  let s = v.st_of t.src in
  let dd = s.d in
  forallb (fun d0 ->
    (&&)
      ((&&) (check_law s.law_of f ce d0)
        ((||) (negb (shows_other t))
          (check_law s.law_of' ({ qnum = Z0; qden = XH } :: []) ({ qnum = Z0;
            qden = XH } :: []) d0)))
      (forallb (fun m ->
        (&&) (qle_bool (qplus (qmult dd m) (qmult (rel v t) d0)) paid0)
          (qle_bool (qminus (qmult dd m) (qmult (rel v t) d0)) paid0))
        (misses f ce d0))) ((fst apart0) :: ((snd apart0) :: []))

(** val range : gview -> trans -> edge list -> q list * q list **)

let range w t l =
  ((flat_map (fun e -> floors w t (source e) (target e)) l),
    (flat_map (fun e -> ceilings w t (source e) (target e)) l))

(** val joining : int -> int -> trans -> trans **)

let joining n n' t =
  { src = n; tgt = n'; t_ge = t.t_ge; t_lt = t.t_lt; others = t.others; asg =
    t.asg; copies = t.copies; sets = t.sets; out = t.out }

(** val first_node : gview -> int **)

let first_node w =
  match w.over_of 0 with
  | [] -> 0
  | n :: _ -> n

(** val lifted : automaton -> view -> graph -> gview -> automaton **)

let lifted a v g w =
  { initial = (first_node w); states =
    (map (fun n -> v.st_of (w.bn_of n.l_base).b_state) g.l_nodes);
    transitions =
    (map (fun e -> joining (source e) (target e) (v.tr_of (number e)))
      g.l_edges); differ = a.differ }

(** val is_in : (int -> int) -> int -> int -> bool **)

let is_in layer k x =
  (=) (layer x) k

(** val in_one_layer : gview list -> (int -> int) -> (term * term) -> bool **)

let in_one_layer p layer p0 =
  match app (held_by (fst p0)) (held_by (snd p0)) with
  | [] -> true
  | x :: l ->
    (&&) ((<=) (layer x) (length p)) (forallb (is_in layer (layer x)) l)

(** val is_answered :
    view -> gview list -> (int -> int) -> (gview * edge list) list ->
    (term * term) -> bool **)

let is_answered v p layer l p0 =
  (||) (in_one_layer p layer p0)
    (existsb (fun r ->
      forallb (fun e -> answered v (fst r) (source e) p0) (snd r)) l)

(** val compatible : (q list * q list) list -> bool **)

let rec compatible = function
| [] -> true
| p :: l' ->
  let (f, ce) = p in
  (&&) (forallb (fun r -> (&&) (fits f (snd r)) (fits (fst r) ce)) l')
    (compatible l')

(** val check_step :
    view -> cert -> gview -> gview list -> (int -> int) -> (int * edge) ->
    bool **)

let check_step v c w p layer k = match k with
| (e, e0) ->
  let (p0, n') = e0 in
  let (n, w0) = p0 in
  let (i, l) = w0 in
  let t = v.tr_of i in
  let l0 = (w, ((snd k) :: [])) :: (map (fun u -> (u, (u.by_of e))) p) in
  let r = map (fun r -> range (fst r) t (snd r)) l0 in
  (||) (negb (forallb (fun u -> nonempty (u.by_of e)) p))
    ((&&)
      ((&&)
        ((&&)
          (forallb (fun x -> (<=) (layer x) (length p)) (app t.t_ge t.t_lt))
          (forallb (is_answered v p layer l0) (asked t))) (compatible r))
      (match means v c.c_claim t l (w.bn_of (w.ln_of n).l_base).b_known with
       | Some apart0 ->
         check_cost v t apart0 (flat_map fst r) (flat_map snd r)
           (qminus (w.ln_of n).l_pot (w.ln_of n').l_pot)
       | None -> false))

(** val check_bound : cert -> gview -> gview list -> bool **)

let check_bound c w p =
  (&&)
    (forallb (fun n ->
      (&&) (qle_bool { qnum = Z0; qden = XH } n.l_pot)
        ((||) (negb ((=) n.l_base 0)) (qle_bool n.l_pot c.c_claim.c_D)))
      c.c_ground.l_nodes)
    ((||) (negb (nonempty p))
      (match w.over_of 0 with
       | [] -> false
       | _ :: l -> (match l with
                    | [] -> true
                    | _ :: _ -> false)))

(** val numbered : 'a1 list -> (int * 'a1) list **)

let numbered l =
  combine (numbers l) l

(** val check_ground :
    grade -> automaton -> view -> cert -> gview -> gview list -> (int -> int)
    -> bool **)

let check_ground g a v c w p layer =
  (&&)
    ((&&)
      ((&&) ((&&) (check_claim c.c_claim) (check_model g a v))
        (check_graph g a v c.c_claim c.c_ground w true (is_in layer 0)))
      (check_bound c w p))
    (forallb (check_step v c w p layer) (numbered c.c_ground.l_edges))

(** val for_parts : hints -> hints **)

let for_parts h =
  { stored = []; lesser = []; why = h.why; between = h.between }

(** val check_part :
    grade -> automaton -> view -> claim -> (int -> int) ->
    (int * (gview * graph)) -> bool **)

let check_part g b v c layer = function
| (k, p0) ->
  let (u, g0) = p0 in
  check_graph g b v c g0 u false (is_in layer (Stdlib.Int.succ k))

(** val check : grade -> automaton -> cert -> bool **)

let check g a c =
  let v = by_trees (grow a c.c_hints) in
  let w = by_gtrees (ggrow c.c_ground) in
  let p = map (fun g0 -> by_gtrees (ggrow g0)) c.c_parts in
  let layer = at_place 0 (array c.c_layer) in
  let b = lifted a v c.c_ground w in
  (&&) (check_ground g a v c w p layer)
    (forallb
      (check_part g b (by_trees (grow b (for_parts c.c_hints))) c.c_claim
        layer) (numbered (combine p c.c_parts)))

(** val on_grid : positive -> q -> bool **)

let on_grid n q0 =
  Z.eqb (Z.modulo (Z.mul (Zpos n) q0.qnum) (Zpos q0.qden)) Z0

(** val real_numbers : grade **)

let real_numbers =
  { shift_ok = (fun _ -> true); factor_ok = (fun _ -> true); mixes = true;
    only_ends = (fun _ _ -> false); smooth = true; whole = false }

(** val multiples : positive -> grade **)

let multiples n =
  { shift_ok = (on_grid n); factor_ok = (on_grid XH); mixes = false;
    only_ends = (fun lo hi ->
    (&&) (qle_bool (qopp { qnum = (Zpos XH); qden = n }) lo)
      (qle_bool hi { qnum = (Zpos XH); qden = n })); smooth = false; whole =
    false }

(** val integers : grade **)

let integers =
  { shift_ok = (on_grid XH); factor_ok = (on_grid XH); mixes = false;
    only_ends = (multiples XH).only_ends; smooth = false; whole = true }

(** val some_multiples : grade **)

let some_multiples =
  { shift_ok = (fun _ -> true); factor_ok = (on_grid XH); mixes = false;
    only_ends = (fun _ _ -> false); smooth = false; whole = false }

type order = (place * place) list

(** val pair_eqb : (place * place) -> (place * place) -> bool **)

let pair_eqb r r' =
  (&&) (place_eqb (fst r) (fst r')) (place_eqb (snd r) (snd r'))

(** val listed : order -> (place * place) -> bool **)

let listed f r =
  existsb (pair_eqb r) f

(** val at_most : order -> place -> place -> bool **)

let at_most f p q0 =
  (||) (place_eqb p q0) (listed f (p, q0))

(** val ends_of : atom -> (place * place) option **)

let ends_of a =
  if (&&) (eqb a.low.negative a.high.negative)
       (qle_bool a.high.plus a.low.plus)
  then Some
         (if a.low.negative
          then (a.high.whence, a.low.whence)
          else (a.low.whence, a.high.whence))
  else None

(** val is_strict : atom -> bool **)

let is_strict a =
  (||) a.strict (qlt_bool a.high.plus a.low.plus)

(** val said : trans -> order **)

let said t =
  flat_map (fun a -> match ends_of a with
                     | Some r -> r :: []
                     | None -> []) (atoms t)

(** val once_each : order -> order **)

let once_each f =
  fold_right (fun r l -> if listed l r then l else r :: l) [] f

(** val composed : order -> order **)

let composed f =
  once_each
    (app f
      (flat_map (fun r ->
        map (fun r' -> ((fst r), (snd r')))
          (filter (fun r' -> place_eqb (snd r) (fst r')) f)) f))

(** val told0 : order -> trans -> order **)

let told0 f t =
  composed (composed (app (said t) f))

(** val contradicts_order : order -> trans -> bool **)

let contradicts_order f t =
  let k = told0 f t in
  existsb (fun a ->
    match ends_of a with
    | Some p0 -> let (p, q0) = p0 in (&&) (is_strict a) (at_most k q0 p)
    | None -> false) (atoms t)

(** val came : trans -> place -> place option **)

let came t p = match p with
| Zero -> Some Zero
| Insample -> None
| Held x ->
  if mem x t.asg
  then Some Insample
  else (match lookup x t.copies with
        | Some v ->
          if (&&) (negb v.negative) (qeq_bool v.plus { qnum = Z0; qden = XH })
          then Some v.whence
          else None
        | None -> Some p)

(** val order_after : place list -> order -> trans -> order **)

let order_after w f t =
  let k = told0 f t in
  flat_map (fun p ->
    flat_map (fun q0 ->
      match came t p with
      | Some p' ->
        (match came t q0 with
         | Some q' ->
           if (&&) (negb (place_eqb p q0)) (at_most k p' q')
           then (p, q0) :: []
           else []
         | None -> [])
      | None -> []) w) w

(** val alike : item list -> item list -> bool **)

let rec alike o o' =
  match o with
  | [] -> (match o' with
           | [] -> true
           | _ :: _ -> false)
  | i :: o0 ->
    (match o' with
     | [] -> false
     | i' :: o'0 ->
       (&&)
         (match i with
          | Sym x -> (match i' with
                      | Sym y -> (=) x y
                      | _ -> false)
          | _ -> (match i' with
                  | Sym _ -> false
                  | _ -> true)) (alike o0 o'0))

type rival = int * order

(** val covers : rival -> rival -> bool **)

let covers r r' =
  (&&) ((=) (fst r) (fst r')) (forallb (listed (snd r')) (snd r))

(** val add_rival : rival -> rival list -> rival list **)

let add_rival r l =
  if existsb (fun r' -> covers r' r) l then l else r :: l

(** val led : place list -> view -> int -> rival -> int list -> rival list **)

let led w v i r among =
  flat_map (fun j ->
    let t = v.tr_of j in
    if (&&) (alike t.out (v.tr_of i).out) (negb (contradicts_order (snd r) t))
    then (t.tgt, (order_after w (snd r) t)) :: []
    else []) among

type pursued = rival * rival list

(** val pursue_step : place list -> view -> int -> pursued -> pursued **)

let pursue_step w v i = function
| (r, rivals) ->
  let t = v.tr_of i in
  ((t.tgt, (order_after w (snd r) t)),
  (fold_right add_rival []
    (app
      (led w v i r (filter (fun j -> negb ((=) j i)) (v.leaving_of (fst r))))
      (flat_map (fun r' -> led w v i r' (v.leaving_of (fst r'))) rivals))))

(** val pursue : place list -> view -> int list -> pursued -> pursued **)

let pursue w v run x =
  fold_left (fun x0 i -> pursue_step w v i x0) run x

(** val spread :
    place list -> view -> int -> int list -> rival -> rival list -> rival list **)

let rec spread w v fuel round r rivals =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> rivals)
    (fun fuel' ->
    let more0 = snd (pursue w v round (r, rivals)) in
    if forallb (fun r' -> existsb (fun r'' -> covers r'' r') rivals) more0
    then rivals
    else spread w v fuel' round r (fold_right add_rival rivals more0))
    fuel

(** val settled : pursued -> pursued -> bool **)

let settled x y =
  (&&) (covers (fst x) (fst y))
    (forallb (fun r' -> existsb (fun r'' -> covers r'' r') (snd x)) (snd y))

type rstep = { taken : int; entry_at : q; more : q; drawn : q; drawn' : 
               q; weights : q list; pulls : q list }

type slopes_of = { of_entry : q; of_drawn : q; of_drawn' : q }

type lstep = { base : rstep; ahead : slopes_of; behind : slopes_of }

type segment = { again : bool; steps : lstep list; drift : (int * q) list;
                 drift_r : (int * q) list }

type rcert = { r_claim : claim; r_run : segment list; r_watched : place list;
               r_hints : hints }

type numbers_of = (int * q) list

(** val getQ : numbers_of -> int -> q **)

let getQ s x =
  match lookup x s with
  | Some q0 -> q0
  | None -> { qnum = Z0; qden = XH }

(** val heldQ : numbers_of -> q -> place -> q **)

let heldQ s z0 = function
| Zero -> { qnum = Z0; qden = XH }
| Insample -> z0
| Held x -> getQ s x

(** val valueQ : numbers_of -> q -> term -> q **)

let valueQ s z0 v =
  qplus
    (if v.negative then qopp (heldQ s z0 v.whence) else heldQ s z0 v.whence)
    v.plus

(** val updQ : numbers_of -> trans -> q -> numbers_of **)

let updQ s t z0 =
  app (map (fun x -> (x, z0)) t.asg)
    (app (map (fun p -> ((fst p), (valueQ s z0 (snd p)))) t.copies)
      (filter (fun p -> negb (mem (fst p) (gets t))) s))

(** val setQ : (int * update) list -> q -> numbers_of -> numbers_of **)

let setQ l e r =
  app
    (map (fun p -> ((fst p),
      (qred
        (qplus
          (match (snd p).from with
           | Some y -> getQ r y
           | None -> { qnum = Z0; qden = XH })
          (if (snd p).adds then e else { qnum = Z0; qden = XH }))))) l)
    (filter (fun p -> negb (mem (fst p) (map fst l))) r)

(** val weighedQ : (int * q) list -> numbers_of -> q **)

let weighedQ l r =
  fold_right (fun p m -> qred (qplus (qmult (snd p) (getQ r (fst p))) m))
    { qnum = Z0; qden = XH } l

(** val atom_holds : numbers_of -> q -> atom -> bool **)

let atom_holds s z0 a =
  if a.strict
  then qlt_bool (valueQ s z0 a.low) (valueQ s z0 a.high)
  else qle_bool (valueQ s z0 a.low) (valueQ s z0 a.high)

(** val can_beQ : grade -> law -> q -> q -> q -> bool **)

let can_beQ g l d0 m z0 =
  match l with
  | Laplace ->
    if qle_bool d0 { qnum = Z0; qden = XH }
    then qeq_bool z0 m
    else g.shift_ok (qminus z0 m)
  | Exponential ->
    if qle_bool d0 { qnum = Z0; qden = XH }
    then qeq_bool z0 m
    else (&&) (g.shift_ok (qminus z0 m)) (qle_bool m z0)
  | Exact -> qeq_bool z0 m

type origin = (bool * int) option

type origins = (int * origin) list

(** val turn : bool -> origin -> origin **)

let turn b = function
| Some p -> let (c, i) = p in Some ((xorb b c), i)
| None -> None

(** val same_origin : origin -> origin -> bool **)

let same_origin o o' =
  match o with
  | Some p ->
    let (b, i) = p in
    (match o' with
     | Some p0 -> let (c, j) = p0 in (&&) (eqb b c) ((=) i j)
     | None -> false)
  | None -> (match o' with
             | Some _ -> false
             | None -> true)

(** val origin_of : origins -> int -> origin **)

let origin_of o x =
  match lookup x o with
  | Some o0 -> o0
  | None -> None

(** val origin_at : origins -> origin -> term -> origin **)

let origin_at o z0 v =
  turn v.negative
    (match v.whence with
     | Zero -> None
     | Insample -> z0
     | Held x -> origin_of o x)

(** val upd_origins : origins -> trans -> origin -> origins **)

let upd_origins o t z0 =
  app (map (fun x -> (x, z0)) t.asg)
    (app (map (fun p -> ((fst p), (origin_at o z0 (snd p)))) t.copies)
      (filter (fun p -> negb (mem (fst p) (gets t))) o))

(** val fresh0 : origins -> int **)

let fresh0 o =
  fold_right (fun p n ->
    match snd p with
    | Some y -> let (_, i) = y in if (<=) n i then Stdlib.Int.succ i else n
    | None -> n) 0 o

(** val is_noisy : law -> q -> bool **)

let is_noisy l d0 =
  match l with
  | Exact -> false
  | _ -> qlt_bool { qnum = Z0; qden = XH } d0

(** val sample_origin : law -> q -> origins -> origin **)

let sample_origin l d0 o =
  if is_noisy l d0 then Some (false, (fresh0 o)) else None

(** val roomy : numbers_of -> origins -> q -> origin -> atom -> bool **)

let roomy s o z0 o0 a =
  (||) (same_origin (origin_at o o0 a.low) (origin_at o o0 a.high))
    (qlt_bool (valueQ s z0 a.low) (valueQ s z0 a.high))

(** val instead : origins -> origins -> (int * origin) list **)

let instead o o' =
  flat_map (fun p ->
    match snd p with
    | Some y -> let (b, i) = y in (i, (turn b (origin_of o' (fst p)))) :: []
    | None -> []) o

(** val comes_back : origins -> origins -> bool **)

let comes_back o o' =
  let now = instead o o' in
  forallb (fun x ->
    match origin_of o x with
    | Some p ->
      let (b, i) = p in
      (match lookup i now with
       | Some o0 -> same_origin (turn b (origin_of o' x)) o0
       | None -> false)
    | None -> same_origin (origin_of o' x) None)
    (app (map fst o) (map fst o'))

type linear = numbers_of * q

(** val put_at : int -> q -> numbers_of -> numbers_of **)

let rec put_at x w = function
| [] -> (x, w) :: []
| p :: l' ->
  let (y, v) = p in
  if (=) x y then (y, (qred (qplus v w))) :: l' else (y, v) :: (put_at x w l')

(** val plus_at : int -> q -> numbers_of -> numbers_of **)

let plus_at x w l =
  if qeq_bool w { qnum = Z0; qden = XH } then l else put_at x w l

(** val add_term : q -> term -> linear -> linear **)

let add_term w v l =
  let w0 = if v.negative then qopp w else w in
  (match v.whence with
   | Zero -> l
   | Insample -> ((fst l), (qred (qplus (snd l) w0)))
   | Held x -> ((plus_at x w0 (fst l)), (snd l)))

(** val is_new : trans -> (int * q) -> bool **)

let is_new t p =
  mem (fst p) (gets t)

(** val pulled : trans -> numbers_of -> linear **)

let pulled t l =
  fold_right (fun p l0 ->
    if mem (fst p) t.asg
    then ((fst l0), (qred (qplus (snd l0) (snd p))))
    else (match lookup (fst p) t.copies with
          | Some v -> add_term (snd p) v l0
          | None -> l0)) ((filter (fun p -> negb (is_new t p)) l), { qnum =
    Z0; qden = XH }) (filter (is_new t) l)

(** val add_atoms : (atom * q) list -> linear -> linear **)

let add_atoms l l0 =
  fold_right (fun p l1 ->
    add_term (snd p) (fst p).low (add_term (qopp (snd p)) (fst p).high l1))
    l0 l

(** val add_items : (item * q) list -> linear -> linear **)

let add_items l l0 =
  fold_right (fun p l1 ->
    match fst p with
    | Number (a, b) -> add_term (snd p) a (add_term (qopp (snd p)) b l1)
    | _ -> l1) l0 l

(** val pulled' : (item * q) list -> q **)

let pulled' l =
  fold_right (fun p w ->
    if is_other (fst p) then qred (qplus (snd p) w) else w) { qnum = Z0;
    qden = XH } l

(** val withinQ : law -> q -> q -> bool **)

let withinQ l d0 k =
  match l with
  | Laplace -> (&&) (qle_bool (qopp d0) k) (qle_bool k d0)
  | Exponential -> qle_bool (qopp d0) k
  | Exact -> true

(** val read_of : view -> rstep -> q -> q **)

let read_of v c x =
  if (v.st_of (v.tr_of c.taken).src).reads
  then x
  else { qnum = Z0; qden = XH }

(** val possible :
    grade -> automaton -> view -> rstep list -> int -> numbers_of ->
    numbers_of -> bool **)

let rec possible g a v run q0 s r =
  match run with
  | [] -> true
  | c :: run' ->
    let t = v.tr_of c.taken in
    let e = read_of v c c.entry_at in
    let m = qred (qplus e (weighedQ (v.st_of t.src).factors r)) in
    (&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (Nat.ltb c.taken (length a.transitions)) ((=) t.src q0))
            (can_beQ g (v.st_of q0).law_of (v.st_of q0).d
              (qplus m (v.st_of q0).mu) c.drawn))
          ((||) (negb (shows_other t))
            (can_beQ g (v.st_of q0).law_of' (v.st_of q0).d'
              (qplus m (v.st_of q0).mu') c.drawn')))
        (forallb (atom_holds s c.drawn) (atoms t)))
      (possible g a v run' t.tgt (updQ s t c.drawn) (setQ t.sets e r))

(** val drawn_from : view -> rstep -> origins -> origin **)

let drawn_from v c o =
  let s = v.st_of (v.tr_of c.taken).src in sample_origin s.law_of s.d o

(** val has_room : view -> rstep list -> numbers_of -> origins -> bool **)

let rec has_room v run s o =
  match run with
  | [] -> true
  | c :: run' ->
    let t = v.tr_of c.taken in
    (&&) (forallb (roomy s o c.drawn (drawn_from v c o)) (atoms t))
      (has_room v run' (updQ s t c.drawn)
        (upd_origins o t (drawn_from v c o)))

(** val origins_after : view -> rstep list -> origins -> origins **)

let rec origins_after v run o =
  match run with
  | [] -> o
  | c :: run' ->
    origins_after v run' (upd_origins o (v.tr_of c.taken) (drawn_from v c o))

(** val near_enough :
    grade -> view -> rstep list -> numbers_of -> origins -> bool **)

let near_enough g v run s o =
  (||) (negb g.mixes) (has_room v run s o)

(** val stepped : view -> rstep -> numbers_of -> linear **)

let stepped v c l =
  let t = v.tr_of c.taken in
  add_items (combine t.out c.pulls)
    (add_atoms (combine (atoms t) c.weights) (pulled t l))

(** val steep' : view -> rstep -> q **)

let steep' v c =
  pulled' (combine (v.tr_of c.taken).out c.pulls)

(** val back :
    view -> rstep list -> numbers_of -> numbers_of * (q * q) list **)

let rec back v run l0 =
  match run with
  | [] -> (l0, [])
  | c :: run' ->
    let (l, ks) = back v run' l0 in
    let (l', k) = stepped v c l in (l', ((k, (steep' v c)) :: ks))

(** val check_steep : view -> q -> rstep -> (q * q) -> bool **)

let check_steep v share c ks =
  let t = v.tr_of c.taken in
  let s = v.st_of t.src in
  (&&)
    ((&&) (withinQ s.law_of (qmult share s.d) (fst ks))
      ((||) (negb (shows_other t))
        (withinQ s.law_of' (qmult share s.d') (snd ks))))
    (forallb (qle_bool { qnum = Z0; qden = XH }) c.weights)

(** val worth : view -> rstep list -> (q * q) list -> numbers_of -> q **)

let rec worth v run ks r =
  match run with
  | [] -> { qnum = Z0; qden = XH }
  | c :: run' ->
    (match ks with
     | [] -> { qnum = Z0; qden = XH }
     | k :: ks' ->
       let t = v.tr_of c.taken in
       let e = read_of v c c.more in
       qred
         (qplus
           (qmult (qplus (fst k) (snd k))
             (qplus e (weighedQ (v.st_of t.src).factors r)))
           (worth v run' ks' (setQ t.sets e r))))

(** val advance :
    view -> rstep list -> int -> numbers_of -> numbers_of ->
    (int * numbers_of) * numbers_of **)

let rec advance v run q0 s r =
  match run with
  | [] -> ((q0, s), r)
  | c :: run' ->
    let t = v.tr_of c.taken in
    advance v run' t.tgt (updQ s t c.drawn)
      (setQ t.sets (read_of v c c.entry_at) r)

(** val differing_after : view -> rstep list -> numbers_of -> numbers_of **)

let rec differing_after v run r =
  match run with
  | [] -> r
  | c :: run' ->
    differing_after v run'
      (setQ (v.tr_of c.taken).sets (read_of v c c.more) r)

(** val check_more : grade -> view -> claim -> rstep -> bool **)

let check_more g v c s =
  (||) (negb (v.st_of (v.tr_of s.taken).src).reads)
    ((&&)
      ((&&)
        ((&&) (qle_bool (qmult c.c_sens c.c_low) (qopp s.more))
          (qle_bool (qopp s.more) (qmult c.c_sens c.c_high)))
        (g.shift_ok s.more)) (g.shift_ok s.entry_at))

(** val pattern_after : view -> rstep list -> int -> int option **)

let rec pattern_after v run k =
  match run with
  | [] -> Some k
  | c :: run' ->
    if (v.st_of (v.tr_of c.taken).src).reads
    then (match if qeq_bool c.more { qnum = Z0; qden = XH }
                then fst (v.moves_of k)
                else snd (v.moves_of k) with
          | Some k' -> pattern_after v run' k'
          | None -> None)
    else pattern_after v run' k

(** val loose_term : term -> term **)

let loose_term v =
  { negative = v.negative; whence = v.whence; plus = { qnum = Z0; qden =
    XH } }

(** val loose_trans : trans -> trans **)

let loose_trans t =
  { src = t.src; tgt = t.tgt; t_ge = []; t_lt = []; others =
    (map (fun a -> { low = (loose_term a.low); high = (loose_term a.high);
      strict = false }) (atoms t)); asg = t.asg; copies =
    (map (fun p -> ((fst p), (loose_term (snd p)))) t.copies); sets = t.sets;
    out = t.out }

(** val loose_stat : stat -> stat **)

let loose_stat s =
  { reads = s.reads; law_of = s.law_of; d = s.d; mu = { qnum = Z0; qden =
    XH }; law_of' = s.law_of'; d' = s.d'; mu' = { qnum = Z0; qden = XH };
    factors = s.factors }

(** val loose : view -> view **)

let loose v =
  { tr_of = (fun i -> loose_trans (v.tr_of i)); st_of = (fun q0 ->
    loose_stat (v.st_of q0)); leaving_of = v.leaving_of; stored_of =
    v.stored_of; moves_of = v.moves_of; lesser_of = v.lesser_of; why_of =
    v.why_of; between_of = v.between_of }

(** val with_numbers : rstep -> slopes_of -> rstep **)

let with_numbers c x =
  { taken = c.taken; entry_at = x.of_entry; more = c.more; drawn =
    x.of_drawn; drawn' = x.of_drawn'; weights = c.weights; pulls = c.pulls }

(** val bases : segment -> rstep list **)

let bases g =
  map (fun l -> l.base) g.steps

(** val aheads : segment -> rstep list **)

let aheads g =
  map (fun c -> with_numbers c.base c.ahead) g.steps

(** val behinds : segment -> rstep list **)

let behinds g =
  map (fun c -> with_numbers c.base c.behind) g.steps

(** val shifted_by : numbers_of -> numbers_of -> numbers_of **)

let shifted_by l s =
  app l (filter (fun p -> negb (mem (fst p) (map fst l))) s)

(** val stored_in : view -> rstep list -> int list **)

let stored_in v run =
  flat_map (fun c -> gets (v.tr_of c.taken)) run

(** val set_in : view -> rstep list -> int list **)

let set_in v run =
  flat_map (fun c -> map fst (v.tr_of c.taken).sets) run

(** val in_step :
    int list -> numbers_of -> numbers_of -> numbers_of -> numbers_of ->
    numbers_of -> numbers_of -> bool **)

let in_step xs s s1 s2 t t1 t2 =
  forallb (fun x ->
    (&&)
      ((&&)
        (qeq_bool (getQ t x)
          (qplus (qminus (getQ s x) (getQ s1 x)) (getQ s2 x)))
        (qeq_bool (getQ t1 x) (getQ s1 x))) (qeq_bool (getQ t2 x) (getQ s2 x)))
    xs

(** val possible_in :
    grade -> automaton -> view -> segment list -> int -> numbers_of ->
    numbers_of -> numbers_of -> numbers_of -> origins -> bool **)

let rec possible_in gr a v run q0 s r s1 r1 o =
  match run with
  | [] -> true
  | g :: run' ->
    let (p, u) = advance v (bases g) q0 s r in
    let (q', t) = p in
    let (p0, u1) = advance (loose v) (aheads g) q0 s1 r1 in
    let (_, t1) = p0 in
    let o' = origins_after v (bases g) o in
    (&&)
      ((&&)
        ((&&) (possible gr a v (bases g) q0 s r)
          (near_enough gr v (bases g) s o))
        (possible gr a (loose v) (aheads g) q0 s1 r1))
      (if g.again
       then let s2 = shifted_by g.drift s1 in
            let r2 = shifted_by g.drift_r r1 in
            let (p1, u2) = advance (loose v) (behinds g) q0 s2 r2 in
            let (_, t2) = p1 in
            (&&)
              ((&&)
                ((&&)
                  ((&&)
                    ((&&) (possible gr a (loose v) (behinds g) q0 s2 r2)
                      ((=) q0 q')) ((||) (negb gr.mixes) (comes_back o o')))
                  (in_step (app (map fst g.drift) (stored_in v (bases g))) s
                    s1 s2 t t1 t2))
                (in_step (app (map fst g.drift_r) (set_in v (bases g))) r r1
                  r2 u u1 u2)) (possible_in gr a v run' q0 s r s2 r2 o)
       else possible_in gr a v run' q' t u t1 u1 o')

(** val back_in :
    view -> segment list -> numbers_of * (numbers_of * (q * q) list) list **)

let rec back_in v = function
| [] -> ([], [])
| g :: run' ->
  let (l, ks) = back_in v run' in
  if g.again
  then let (l', k) = back v (bases g) [] in
       ((fold_right (fun p -> plus_at (fst p) (snd p)) l l'), (((app l' l),
       k) :: ks))
  else let (l', k) = back v (bases g) l in (l', (([], k) :: ks))

(** val untouched : view -> rstep list -> numbers_of -> bool **)

let untouched v run l =
  forallb (fun c ->
    forallb (fun p ->
      (||) (qeq_bool (snd p) { qnum = Z0; qden = XH })
        (negb (mem (fst p) (gets (v.tr_of c.taken))))) l) run

(** val steep_in :
    view -> q -> segment -> (numbers_of * (q * q) list) -> bool **)

let steep_in v share g lk =
  if g.again
  then (&&)
         (forallb (fun c ->
           forallb (qle_bool { qnum = Z0; qden = XH }) c.weights) (bases g))
         (untouched v (bases g) (fst lk))
  else forallb (fun p -> check_steep v share (fst p) (snd p))
         (combine (bases g) (snd lk))

(** val steady_in : view -> segment list -> numbers_of -> bool **)

let rec steady_in v run e =
  match run with
  | [] -> true
  | g :: run' ->
    let e' = differing_after v (bases g) e in
    if g.again
    then (&&)
           (forallb (fun x -> qeq_bool (getQ e' x) (getQ e x))
             (set_in v (bases g))) (steady_in v run' e)
    else steady_in v run' e'

(** val worth_in :
    view -> segment list -> (numbers_of * (q * q) list) list -> numbers_of ->
    q **)

let rec worth_in v run ks e =
  match run with
  | [] -> { qnum = Z0; qden = XH }
  | g :: run' ->
    (match ks with
     | [] -> { qnum = Z0; qden = XH }
     | k :: ks' ->
       qred
         (qplus (worth v (bases g) (snd k) e)
           (worth_in v run' ks'
             (if g.again then e else differing_after v (bases g) e))))

(** val follows_in : automaton -> view -> segment list -> int -> bool **)

let rec follows_in a v run k =
  match run with
  | [] -> Nat.ltb k (length a.differ)
  | g :: run' ->
    (match pattern_after v (bases g) k with
     | Some k' ->
       (&&) ((||) (negb g.again) ((=) k k')) (follows_in a v run' k')
     | None -> false)

(** val alone_in : view -> place list -> segment list -> pursued -> bool **)

let rec alone_in v w run x =
  match run with
  | [] -> negb (nonempty (snd x))
  | g :: run' ->
    let round = map (fun r -> r.taken) (bases g) in
    if g.again
    then let y = ((fst x),
           (spread w v (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
             (Stdlib.Int.succ (Stdlib.Int.succ
             0)))))))))))))))))))))))))))))))))))))))))))))))))) round
             (fst x) (snd x)))
         in
         (&&) (settled y (pursue w v round y)) (alone_in v w run' y)
    else alone_in v w run' (pursue w v round x)

(** val check_mores : grade -> view -> claim -> segment -> bool **)

let check_mores gr v c g =
  (&&)
    ((&&) (forallb (check_more gr v c) (bases g))
      (forallb (check_more gr v c) (aheads g)))
    (forallb (check_more gr v c) (behinds g))

(** val check_run :
    grade -> automaton -> view -> q -> (q -> bool) -> rcert -> bool **)

let check_run gr a v share enough c =
  let run = c.r_run in
  let ks = snd (back_in v run) in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&) ((&&) (check_claim c.r_claim) (check_model gr a v))
                (possible_in gr a v run a.initial [] [] [] [] []))
              (forallb (fun p -> steep_in v share (fst p) (snd p))
                (combine run ks))) (forallb (check_mores gr v c.r_claim) run))
          (steady_in v run [])) (follows_in a v run 0))
      (alone_in v c.r_watched run ((a.initial, []), [])))
    (enough (worth_in v run ks []))

(** val worth_D : rcert -> q -> bool **)

let worth_D c w =
  (&&) (qle_bool { qnum = Z0; qden = XH } c.r_claim.c_D)
    (qle_bool c.r_claim.c_D w)

(** val check_lower : grade -> automaton -> rcert -> bool **)

let check_lower gr a c =
  check_run gr a (by_trees (grow a c.r_hints)) { qnum = (Zpos XH); qden =
    XH } (worth_D c) c

(** val check_growth : grade -> automaton -> rcert -> bool **)

let check_growth gr a c =
  check_run gr a (by_trees (grow a c.r_hints)) { qnum = Z0; qden = XH }
    (qlt_bool { qnum = Z0; qden = XH }) c

type cycle = int * int

type pattern_at =
| Leaking of int
| Pair of cycle * cycle * int list
| Disclosing of cycle * int
| Violating of cycle * int list

type fcert = { f_run : int list; f_samples : segment list;
               f_where : pattern_at; f_hints : hints }

(** val step_at : view -> (int -> int) -> int -> trans **)

let step_at v at_of j =
  v.tr_of (at_of j)

(** val is_last : view -> int -> (int -> int) -> int -> int -> int -> bool **)

let is_last v size at_of x j i =
  (&&)
    ((&&) ((&&) (Nat.ltb i j) (Nat.ltb j size))
      (mem x (step_at v at_of i).asg))
    (forallb (fun k -> negb (mem x (step_at v at_of k).asg))
      (seq (Stdlib.Int.succ i) (sub j (Stdlib.Int.succ i))))

(** val is_forced : view -> int -> (int -> int) -> int -> int -> bool **)

let is_forced v size at_of i j =
  (||)
    (existsb (fun x -> is_last v size at_of x j i) (step_at v at_of j).t_ge)
    (existsb (fun x -> is_last v size at_of x i j) (step_at v at_of i).t_lt)

(** val is_path_on :
    view -> int -> (int -> int) -> int -> int list -> bool **)

let rec is_path_on v size at_of k = function
| [] -> true
| k' :: path' ->
  (&&) (is_forced v size at_of k k') (is_path_on v size at_of k' path')

(** val check_path : view -> int -> (int -> int) -> int list -> bool **)

let check_path v size at_of = function
| [] -> false
| k :: path' -> (&&) (nonempty path') (is_path_on v size at_of k path')

(** val is_on : cycle -> int -> bool **)

let is_on c p =
  (&&) ((<=) (fst c) p) (Nat.ltb p (snd c))

(** val positions : cycle -> int list **)

let positions c =
  seq (fst c) (sub (snd c) (fst c))

(** val stored_on : view -> (int -> int) -> cycle -> int list **)

let stored_on v at_of c =
  flat_map (fun p -> (step_at v at_of p).asg) (positions c)

(** val used_on : view -> (int -> int) -> cycle -> int list **)

let used_on v at_of c =
  flat_map (fun p -> app (step_at v at_of p).t_ge (step_at v at_of p).t_lt)
    (positions c)

(** val check_cycle : view -> int -> (int -> int) -> cycle -> bool **)

let check_cycle v size at_of c =
  (&&) ((&&) (Nat.ltb (fst c) (snd c)) ((<=) (snd c) size))
    ((=) (step_at v at_of (fst c)).src
      (step_at v at_of (sub (snd c) (Stdlib.Int.succ 0))).tgt)

(** val check_non_leaking : view -> int -> (int -> int) -> cycle -> bool **)

let check_non_leaking v size at_of c =
  (&&) (check_cycle v size at_of c)
    (negb (meets (used_on v at_of c) (stored_on v at_of c)))

(** val check_leaves : cycle -> int list -> bool **)

let check_leaves c = function
| [] -> false
| k1 :: l ->
  (match l with
   | [] -> false
   | k2 :: _ -> (&&) (is_on c k1) (Nat.ltb k2 k1))

(** val check_enters : cycle -> int list -> bool **)

let rec check_enters c = function
| [] -> false
| k1 :: path' ->
  (match path' with
   | [] -> check_enters c path'
   | k2 :: l ->
     (match l with
      | [] -> (&&) (is_on c k2) (Nat.ltb k1 k2)
      | _ :: _ -> check_enters c path'))

(** val is_plain_term : term -> place -> bool **)

let is_plain_term v p =
  (&&)
    ((&&) ((&&) (negb v.negative) (place_eqb v.whence p))
      (Z.eqb v.plus.qnum Z0)) (Coq_Pos.eqb v.plus.qden XH)

(** val shows_it : view -> (int -> int) -> int -> bool **)

let shows_it v at_of p =
  existsb (fun i ->
    match i with
    | Number (a, b) -> (&&) (is_plain_term a Insample) (is_plain_term b Zero)
    | _ -> false) (step_at v at_of p).out

(** val ends_shown : view -> (int -> int) -> int list -> bool **)

let rec ends_shown v at_of = function
| [] -> false
| k :: path' ->
  (match path' with
   | [] -> shows_it v at_of k
   | _ :: _ -> ends_shown v at_of path')

(** val check_where : view -> int -> (int -> int) -> pattern_at -> bool **)

let check_where v size at_of = function
| Leaking first ->
  (&&) (check_cycle v size at_of (first, size))
    (meets (used_on v at_of (first, size)) (stored_on v at_of (first, size)))
| Pair (c1, c2, path) ->
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (check_non_leaking v size at_of c1)
            (check_non_leaking v size at_of c2))
          ((||) ((<=) (snd c1) (fst c2)) ((<=) (snd c2) (fst c1))))
        (check_path v size at_of path)) (check_leaves c1 path))
    (check_enters c2 path)
| Disclosing (c, p) ->
  (&&)
    ((&&)
      ((&&) ((&&) (check_non_leaking v size at_of c) ((=) (snd c) size))
        (is_on c p)) (v.st_of (step_at v at_of p).src).reads)
    ((||) (shows_it v at_of p) (shows_other (step_at v at_of p)))
| Violating (c, path) ->
  (&&)
    ((&&) (check_non_leaking v size at_of c) (check_path v size at_of path))
    ((||)
      ((&&) (match path with
             | [] -> false
             | k :: _ -> shows_it v at_of k) (check_enters c path))
      ((&&) (ends_shown v at_of path) (check_leaves c path)))

(** val strip : int list -> int list -> int list option **)

let rec strip c l =
  match c with
  | [] -> Some l
  | i :: c' ->
    (match l with
     | [] -> None
     | j :: l' -> if (=) i j then strip c' l' else None)

(** val only_rounds : int -> int list -> int list -> bool **)

let rec only_rounds fuel c l = match l with
| [] -> true
| _ :: _ ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> false)
     (fun fuel' ->
     match strip c l with
     | Some l' -> only_rounds fuel' c l'
     | None -> false)
     fuel)

(** val same_nats : int list -> int list -> bool **)

let rec same_nats l l' =
  match l with
  | [] -> (match l' with
           | [] -> true
           | _ :: _ -> false)
  | x :: l0 ->
    (match l' with
     | [] -> false
     | y :: l'0 -> (&&) ((=) x y) (same_nats l0 l'0))

(** val check_samples :
    automaton -> view -> int list -> pattern_at -> segment list -> bool **)

let check_samples a v run w samples =
  (&&) (possible_in some_multiples a v samples a.initial [] [] [] [] [])
    (match w with
     | Leaking first ->
       (match samples with
        | [] -> false
        | g :: l ->
          (match l with
           | [] -> false
           | h :: l0 ->
             (match l0 with
              | [] ->
                let c = skipn first run in
                (&&)
                  ((&&)
                    ((&&) ((&&) (negb g.again) h.again) (nonempty h.steps))
                    (match strip (firstn first run)
                             (map (fun r -> r.taken) (bases g)) with
                     | Some l1 -> only_rounds (length l1) c l1
                     | None -> false))
                  (only_rounds (length h.steps) c
                    (map (fun r -> r.taken) (bases h)))
              | _ :: _ -> false)))
     | _ ->
       (match samples with
        | [] -> false
        | g :: l ->
          (match l with
           | [] ->
             (&&) (negb g.again)
               (same_nats run (map (fun r -> r.taken) (bases g)))
           | _ :: _ -> false)))

(** val check_paper : automaton -> view -> bool **)

let check_paper a v =
  forallb (fun i ->
    (&&) (negb (nonempty (v.tr_of i).others))
      (negb (nonempty (v.tr_of i).copies))) (numbers a.transitions)

(** val check_at : automaton -> view -> (int -> int) -> fcert -> bool **)

let check_at a v at_of c =
  (&&)
    ((&&) (check_paper a v) (check_where v (length c.f_run) at_of c.f_where))
    (check_samples a v c.f_run c.f_where c.f_samples)

(** val check_pattern : automaton -> fcert -> bool **)

let check_pattern a c =
  check_at a (by_trees (grow a c.f_hints)) (at_place 0 (array c.f_run)) c

type spot = bool * place

(** val spot_of : bool -> place -> spot **)

let spot_of c p = match p with
| Zero -> (false, Zero)
| _ -> (c, p)

(** val spot_eqb : spot -> spot -> bool **)

let spot_eqb x y =
  (&&) (eqb (fst x) (fst y)) (place_eqb (snd x) (snd y))

type limit = { most : q; unreached : bool }

(** val nothing_apart : limit **)

let nothing_apart =
  { most = { qnum = Z0; qden = XH }; unreached = false }

(** val sum_of : q -> q -> q **)

let sum_of x y =
  if Coq_Pos.eqb x.qden y.qden
  then { qnum = (Z.add x.qnum y.qnum); qden = x.qden }
  else qred (qplus x y)

(** val after : limit -> limit -> limit **)

let after b b' =
  { most = (sum_of b.most b'.most); unreached =
    ((||) b.unreached b'.unreached) }

(** val at_most0 : limit -> limit -> bool **)

let at_most0 b b' =
  (&&) (qle_bool b.most b'.most)
    ((||) ((||) (negb (qle_bool b'.most b.most)) b.unreached)
      (negb b'.unreached))

type row = limit option list

type matrix = (spot * row) list

(** val least : limit option -> limit option -> limit option **)

let least o o' =
  match o with
  | Some b ->
    (match o' with
     | Some b' -> if at_most0 b b' then o else o'
     | None -> o)
  | None -> o'

(** val pick : spot list -> row -> spot -> limit option **)

let rec pick xs r y =
  match xs with
  | [] -> None
  | x :: xs' ->
    (match r with
     | [] -> None
     | o :: r' -> if spot_eqb x y then o else pick xs' r' y)

(** val row_of : matrix -> spot -> row **)

let row_of m x =
  match find (fun p -> spot_eqb (fst p) x) m with
  | Some p -> snd p
  | None -> []

(** val between0 : matrix -> spot -> spot -> limit option **)

let between0 m x y =
  if spot_eqb x y then Some nothing_apart else pick (map fst m) (row_of m x) y

(** val by_way : limit -> row -> row -> row **)

let rec by_way b r through =
  match r with
  | [] -> r
  | o :: r' ->
    (match through with
     | [] -> r
     | o' :: through' ->
       (least o (option_map (after b) o')) :: (by_way b r' through'))

(** val learn : spot -> spot -> limit -> matrix option -> matrix option **)

let learn x y b = function
| Some m0 ->
  let close = fun o ->
    match o with
    | Some b' -> negb (at_most0 nothing_apart (after b b'))
    | None -> false
  in
  let known0 = fun o -> match o with
                        | Some b' -> at_most0 b' b
                        | None -> false
  in
  if close (between0 m0 y x)
  then None
  else if known0 (between0 m0 x y)
       then Some m0
       else let xs = map fst m0 in
            let last = row_of m0 y in
            Some
            (map (fun p ->
              match pick xs (snd p) x with
              | Some first -> ((fst p), (by_way (after first b) (snd p) last))
              | None -> p) m0)
| None -> None

(** val different : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list **)

let different eqb0 l =
  fold_right (fun x m -> if existsb (fun y -> eqb0 y x) m then m else x :: m)
    [] l

(** val unknown : spot list -> matrix option **)

let unknown xs =
  let xs0 = different spot_eqb xs in
  Some
  (map (fun x -> (x,
    (map (fun y -> if spot_eqb x y then Some nothing_apart else None) xs0)))
    xs0)

type sight =
| Symbol of int
| Some_number
| Other_number

type letter_of = { prompted : bool; sights : sight list }

type medge = { m_source : int; m_by : int; m_letter : int; m_target : int }

type machine = { m_control : int list; m_accepting : int list;
                 m_edges : medge list; m_letters : letter_of list }

type suffixes = { s_able : int list list; s_sure : int list list;
                  s_before : ((int * int) * int) list }

type fact = { f_low : spot; f_high : spot; f_limit : limit }

type move = { mv_letter : int; mv_rest : int; mv_shift : (q * q) option;
              mv_after : int list }

type rnode = { n_first : int list; n_second : int list; n_suffix : int;
               n_facts : fact list; n_pot : q; n_moves : move list }

type witness = { w_sets : (int list * (int * int) list) list;
                 w_pairs : (int * (int * bool)) list }

type relcert = { e_claim : claim; e_machine : machine; e_suffixes : suffixes;
                 e_nodes : rnode list; e_initial : int list; e_hints : 
                 hints; e_witness : witness }

(** val rnode0 : rnode **)

let rnode0 =
  { n_first = []; n_second = []; n_suffix = 0; n_facts = []; n_pot = { qnum =
    Z0; qden = XH }; n_moves = [] }

(** val letter0 : letter_of **)

let letter0 =
  { prompted = false; sights = [] }

(** val b_rest : ((int * int) * int) -> int **)

let b_rest b =
  fst (fst b)

(** val b_letter : ((int * int) * int) -> int **)

let b_letter b =
  snd (fst b)

(** val b_class : ((int * int) * int) -> int **)

let b_class =
  snd

type pview = { control_of : (int -> int); edges_of : (int -> medge list);
               letter_at : (int -> letter_of); able_of : (int -> int list);
               sure_of : (int -> int list);
               before_of : (int -> ((int * int) * int) list);
               made_of : (int -> ((int * int) * int) list);
               node_at : (int -> rnode);
               set_at : (int -> int list * (int * int) list);
               pairs_of : (int -> (int * (int * bool)) list) }

(** val pgrow : relcert -> pview **)

let pgrow c =
  let m = c.e_machine in
  let s = c.e_suffixes in
  let controls = array m.m_control in
  let edges = index (fun m0 -> m0.m_source) m.m_edges in
  let letters = array m.m_letters in
  let able = array s.s_able in
  let sure0 = array s.s_sure in
  let before = index b_rest s.s_before in
  let made = index b_class s.s_before in
  let nodes = array c.e_nodes in
  let sets0 = array c.e_witness.w_sets in
  let pairs = index fst c.e_witness.w_pairs in
  { control_of = (at_place 0 controls); edges_of = (with_key edges);
  letter_at = (at_place letter0 letters); able_of = (at_place [] able);
  sure_of = (at_place [] sure0); before_of = (with_key before); made_of =
  (with_key made); node_at = (at_place rnode0 nodes); set_at =
  (at_place ([], []) sets0); pairs_of = (with_key pairs) }

(** val sight_of : item -> sight **)

let sight_of = function
| Sym s -> Symbol s
| Number (_, _) -> Some_number
| Other -> Other_number

(** val sight_eqb : sight -> sight -> bool **)

let sight_eqb a b =
  match a with
  | Symbol s -> (match b with
                 | Symbol s' -> (=) s s'
                 | _ -> false)
  | Some_number -> (match b with
                    | Some_number -> true
                    | _ -> false)
  | Other_number -> (match b with
                     | Other_number -> true
                     | _ -> false)

(** val is_symbol : sight -> bool **)

let is_symbol = function
| Symbol _ -> true
| _ -> false

(** val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool **)

let rec all2 f l l' =
  match l with
  | [] -> (match l' with
           | [] -> true
           | _ :: _ -> false)
  | x :: m ->
    (match l' with
     | [] -> false
     | y :: m' -> (&&) (f x y) (all2 f m m'))

(** val term_eqb : term -> term -> bool **)

let term_eqb a b =
  (&&) (same_place a b) (qeq_bool a.plus b.plus)

(** val atom_eqb : atom -> atom -> bool **)

let atom_eqb a b =
  (&&) ((&&) (term_eqb a.low b.low) (term_eqb a.high b.high))
    (eqb a.strict b.strict)

(** val number_eqb : item -> item -> bool **)

let number_eqb i j =
  match i with
  | Number (a, b) ->
    (match j with
     | Number (a', b') -> (&&) (term_eqb a a') (term_eqb b b')
     | _ -> false)
  | _ -> (match j with
          | Number (_, _) -> false
          | _ -> true)

(** val spot_in : bool -> term -> spot **)

let spot_in c v =
  spot_of c v.whence

(** val learn_facts : fact list -> matrix option -> matrix option **)

let learn_facts l m =
  fold_right (fun f -> learn f.f_low f.f_high f.f_limit) m l

(** val origin0 : trans -> spot -> (spot * q) option **)

let origin0 t x = match x with
| (c, p) ->
  (match p with
   | Zero -> Some (x, { qnum = Z0; qden = XH })
   | Insample -> None
   | Held y ->
     if mem y t.asg
     then Some ((c, Insample), { qnum = Z0; qden = XH })
     else (match lookup y t.copies with
           | Some v ->
             if v.negative then None else Some ((spot_in c v), v.plus)
           | None -> Some (x, { qnum = Z0; qden = XH })))

(** val fact_follows0 : matrix -> trans -> trans -> fact -> bool **)

let fact_follows0 m t t' f =
  let of0 = fun x -> origin0 (if fst x then t' else t) x in
  (match of0 f.f_low with
   | Some p0 ->
     let (x, p) = p0 in
     (match of0 f.f_high with
      | Some p1 ->
        let (y, p') = p1 in
        (match between0 m x y with
         | Some b ->
           at_most0 (after b { most = (qminus p p'); unreached = false })
             f.f_limit
         | None -> false)
      | None -> false)
   | None -> false)

(** val apart : matrix -> term -> term -> q option **)

let apart m a a' =
  if (||) a.negative a'.negative
  then None
  else (match between0 m (spot_in false a) (spot_in true a') with
        | Some b ->
          (match between0 m (spot_in true a') (spot_in false a) with
           | Some b' ->
             if qeq_bool (qplus b.most b'.most) { qnum = Z0; qden = XH }
             then Some (qplus b.most (qminus a.plus a'.plus))
             else None
           | None -> None)
        | None -> None)

(** val same_item : matrix -> item -> item -> bool **)

let same_item m i i' =
  match i with
  | Number (a, b) ->
    (match i' with
     | Number (a', b') ->
       (match apart m a a' with
        | Some x ->
          (match apart m b b' with
           | Some y -> qeq_bool x y
           | None -> false)
        | None -> false)
     | _ -> false)
  | _ -> (match i' with
          | Number (_, _) -> false
          | _ -> true)

(** val tight : grade -> limit -> limit **)

let tight g b =
  if (&&) ((&&) g.whole b.unreached) (g.shift_ok b.most)
  then { most = (qminus b.most { qnum = (Zpos XH); qden = XH }); unreached =
         false }
  else b

(** val learn_atom :
    grade -> bool -> atom -> matrix option -> matrix option **)

let learn_atom g c a m =
  if (||) a.low.negative a.high.negative
  then m
  else learn (spot_in c a.low) (spot_in c a.high)
         (tight g { most = (qminus a.high.plus a.low.plus); unreached =
           a.strict }) m

(** val learn_atoms :
    grade -> bool -> atom list -> matrix option -> matrix option **)

let learn_atoms g c l m =
  fold_right (learn_atom g c) m l

(** val goes_on : grade -> bool -> atom list list -> matrix option -> bool **)

let rec goes_on g c l m = match m with
| Some _ ->
  (match l with
   | [] -> false
   | denials0 :: l' ->
     forallb (fun a -> goes_on g c l' (learn_atom g c a m)) denials0)
| None -> true

(** val denied : atom -> atom **)

let denied a =
  { low = a.high; high = a.low; strict = (negb a.strict) }

(** val denials : grade -> view -> trans -> atom list **)

let denials g v t =
  map (fun a -> stricter (fresh_pair g v t a.low a.high) (denied a)) (atoms t)

(** val same_atoms : atom list -> atom list -> bool **)

let same_atoms =
  all2 atom_eqb

(** val guard_eqb : grade -> view -> trans -> trans -> bool **)

let guard_eqb g v t t' =
  (&&)
    ((&&)
      ((&&) (same_atoms (atoms t) (atoms t'))
        (same_atoms (sure g v t) (sure g v t')))
      (same_atoms (denials g v t) (denials g v t')))
    (same_atoms (support v t) (support v t'))

(** val effect_eqb : grade -> view -> trans -> trans -> bool **)

let effect_eqb g v t t' =
  (&&)
    ((&&) ((&&) (guard_eqb g v t t') (all2 (=) t.asg t'.asg))
      (all2 (fun c c' ->
        (&&) ((=) (fst c) (fst c')) (term_eqb (snd c) (snd c'))) t.copies
        t'.copies)) (all2 number_eqb t.out t'.out)

(** val can_go_on :
    grade -> view -> bool -> trans list -> matrix option -> bool **)

let can_go_on g v c l m =
  goes_on g c (map (denials g v) l)
    (learn_atoms g c (flat_map (support v) l) m)

(** val edge_by : pview -> int -> int -> int -> int option **)

let edge_by w u x i =
  match find (fun e -> (&&) ((=) e.m_letter x) ((=) e.m_by i)) (w.edges_of u) with
  | Some e -> Some e.m_target
  | None -> None

(** val check_medge :
    automaton -> view -> relcert -> pview -> medge -> bool **)

let check_medge a v c w e =
  let t = v.tr_of e.m_by in
  let x = w.letter_at e.m_letter in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (Nat.ltb e.m_by (length a.transitions))
              (Nat.ltb e.m_letter (length c.e_machine.m_letters)))
            ((=) t.src (w.control_of e.m_source)))
          ((=) t.tgt (w.control_of e.m_target)))
        (eqb (v.st_of t.src).reads x.prompted))
      (all2 sight_eqb (map sight_of t.out) x.sights))
    (match edge_by w e.m_source e.m_letter e.m_by with
     | Some v0 -> (=) v0 e.m_target
     | None -> false)

(** val accepts : relcert -> int -> bool **)

let accepts c u =
  mem u c.e_machine.m_accepting

(** val check_set :
    view -> relcert -> pview -> (int list * (int * int) list) -> bool **)

let check_set v c w s =
  match fst s with
  | [] -> false
  | u :: _ ->
    (&&) (existsb (accepts c) (fst s))
      (forallb (fun i ->
        match lookup i (snd s) with
        | Some k ->
          (&&)
            (forallb (fun v0 ->
              existsb (fun u0 ->
                existsb (fun e -> (&&) ((=) e.m_by i) ((=) e.m_target v0))
                  (w.edges_of u0)) (fst s)) (fst (w.set_at k)))
            (Nat.ltb k (length c.e_witness.w_sets))
        | None -> false) (v.leaving_of (w.control_of u)))

(** val has_pair : pview -> int -> int -> bool -> bool **)

let has_pair w u v differ0 =
  existsb (fun p -> (&&) ((=) (fst (snd p)) v) (eqb (snd (snd p)) differ0))
    (w.pairs_of u)

(** val check_pair : relcert -> pview -> (int * (int * bool)) -> bool **)

let check_pair c w = function
| (u, p0) ->
  let (v, differ0) = p0 in
  (&&) (negb ((&&) ((&&) differ0 (accepts c u)) (accepts c v)))
    (forallb (fun e ->
      forallb (fun e' ->
        (||) (negb ((=) e.m_by e'.m_by))
          (has_pair w e.m_target e'.m_target
            ((||) differ0 (negb ((=) e.m_letter e'.m_letter)))))
        (w.edges_of v)) (w.edges_of u))

(** val check_machine : automaton -> view -> relcert -> pview -> bool **)

let check_machine a v c w =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) ((=) (w.control_of 0) a.initial)
              (forallb (check_medge a v c w) c.e_machine.m_edges))
            (Nat.ltb 0 (length c.e_witness.w_sets)))
          (match fst (w.set_at 0) with
           | [] -> false
           | u :: l -> (match l with
                        | [] -> (=) u 0
                        | _ :: _ -> false)))
        (forallb (check_set v c w) c.e_witness.w_sets))
      (has_pair w 0 0 false)) (forallb (check_pair c w) c.e_witness.w_pairs)

(** val class_before : pview -> int -> int -> int option **)

let class_before w rest x =
  match find (fun b -> (=) (b_letter b) x) (w.before_of rest) with
  | Some b -> Some (b_class b)
  | None -> None

(** val check_able : relcert -> pview -> bool **)

let check_able c w =
  (&&) (forallb (fun u -> mem u (w.able_of 0)) c.e_machine.m_accepting)
    (forallb (fun rest ->
      forallb (fun e ->
        (||) (negb (mem e.m_target (w.able_of rest)))
          (match class_before w rest e.m_letter with
           | Some s -> mem e.m_source (w.able_of s)
           | None -> false)) c.e_machine.m_edges)
      (numbers c.e_suffixes.s_able))

(** val spots_of : view -> bool -> int -> spot list **)

let spots_of v c q0 =
  (false, Zero) :: ((c,
    Insample) :: (flat_map (fun i ->
                   flat_map (fun a ->
                     (spot_in c a.low) :: ((spot_in c a.high) :: []))
                     (atoms (v.tr_of i))) (v.leaving_of q0)))

(** val always_goes_on : grade -> view -> int -> bool **)

let always_goes_on g v q0 =
  can_go_on g v true (map v.tr_of (v.leaving_of q0))
    (unknown (spots_of v true q0))

(** val check_sure_state :
    grade -> view -> pview -> int -> int -> int -> bool **)

let check_sure_state g v w x rest u =
  (&&)
    ((&&) (forallb is_symbol (w.letter_at x).sights)
      (always_goes_on g v (w.control_of u)))
    (forallb (fun i ->
      match edge_by w u x i with
      | Some v0 -> mem v0 (w.sure_of rest)
      | None -> false) (v.leaving_of (w.control_of u)))

(** val check_sure : grade -> view -> relcert -> pview -> bool **)

let check_sure g v c w =
  (&&) (forallb (accepts c) (w.sure_of 0))
    (forallb (fun b ->
      forallb (check_sure_state g v w (b_letter b) (b_rest b))
        (w.sure_of (b_class b))) c.e_suffixes.s_before)

(** val differences : relcert -> pview -> int -> q * q **)

let differences c w x =
  entry_of c.e_claim (if (w.letter_at x).prompted then Any else Same)

(** val maximum : q -> q -> q **)

let maximum x y =
  if qle_bool x y then y else x

(** val price : law -> q -> q -> (q * q) -> (q * q) -> q option **)

let price l d'0 apart0 d0 shift =
  let above = qminus (fst shift) (qminus apart0 (snd d0)) in
  let under = qminus (qminus apart0 (fst d0)) (snd shift) in
  if match l with
     | Laplace -> true
     | Exponential -> qle_bool under { qnum = Z0; qden = XH }
     | Exact ->
       (&&) (qle_bool under { qnum = Z0; qden = XH })
         (qle_bool above { qnum = Z0; qden = XH })
  then Some
         (qmult d'0 (maximum { qnum = Z0; qden = XH } (maximum above under)))
  else None

(** val law_eqb : law -> law -> bool **)

let law_eqb l l' =
  match l with
  | Laplace -> (match l' with
                | Laplace -> true
                | _ -> false)
  | Exponential -> (match l' with
                    | Exponential -> true
                    | _ -> false)
  | Exact -> (match l' with
              | Exact -> true
              | _ -> false)

(** val price_of_tie :
    grade -> stat -> stat -> (q * q) -> (q * q) option -> q option **)

let price_of_tie g s s' d0 = function
| Some p ->
  let (a, b) = p in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&) ((&&) (qle_bool a b) (law_eqb s.law_of s'.law_of))
               (qeq_bool s.d s'.d)) (is_live s.law_of s.d)) (g.shift_ok a))
         (g.shift_ok b)) (g.shift_ok (qminus s'.mu s.mu))
  then price s.law_of s.d (qminus s'.mu s.mu) d0 (a, b)
  else None
| None -> Some { qnum = Z0; qden = XH }

(** val price_of_other :
    grade -> stat -> stat -> (q * q) -> bool -> q option **)

let price_of_other g s s' d0 = function
| true ->
  if (&&)
       ((&&) ((&&) (law_eqb s.law_of' s'.law_of') (qeq_bool s.d' s'.d'))
         (is_live s.law_of' s.d')) (g.shift_ok (qminus s'.mu' s.mu'))
  then price s.law_of' s.d' (qminus s'.mu' s.mu') d0 ({ qnum = Z0; qden =
         XH }, { qnum = Z0; qden = XH })
  else None
| false -> Some { qnum = Z0; qden = XH }

(** val shows_other_number : pview -> int -> bool **)

let shows_other_number w x =
  existsb (sight_eqb Other_number) (w.letter_at x).sights

(** val paid :
    grade -> relcert -> pview -> stat -> stat -> int -> (q * q) option -> q
    option **)

let paid g c w s s' x shift =
  match price_of_tie g s s' (differences c w x) shift with
  | Some p ->
    (match price_of_other g s s' (differences c w x) (shows_other_number w x) with
     | Some p' -> Some (qplus p p')
     | None -> None)
  | None -> None

(** val stat_eqb : stat -> stat -> bool **)

let stat_eqb s s' =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) ((&&) (eqb s.reads s'.reads) (law_eqb s.law_of s'.law_of))
            (qeq_bool s.d s'.d)) (qeq_bool s.mu s'.mu))
        (law_eqb s.law_of' s'.law_of')) (qeq_bool s.d' s'.d'))
    (qeq_bool s.mu' s'.mu')

(** val stats_of : view -> pview -> int list -> stat list **)

let stats_of v w us =
  different stat_eqb (map (fun u -> v.st_of (w.control_of u)) us)

(** val check_paid :
    grade -> view -> relcert -> pview -> rnode -> int -> move -> int list ->
    int list -> bool **)

let check_paid g v c w n x mv firsts seconds =
  forallb (fun s ->
    forallb (fun s' ->
      (&&) (eqb s'.reads (w.letter_at x).prompted)
        (match paid g c w s s' x mv.mv_shift with
         | Some p ->
           forallb (fun k -> qle_bool (qplus p (w.node_at k).n_pot) n.n_pot)
             mv.mv_after
         | None -> false)) (stats_of v w seconds)) (stats_of v w firsts)

type doings = (trans * int option list) list

(** val note : grade -> view -> trans -> int option -> doings -> doings **)

let rec note g v t v0 = function
| [] -> (t, (v0 :: [])) :: []
| p :: l' ->
  let (t', vs) = p in
  if effect_eqb g v t t'
  then (t', (v0 :: vs)) :: l'
  else (t', vs) :: (note g v t v0 l')

(** val doings_of : grade -> view -> pview -> int list -> int -> doings **)

let doings_of g v w us x =
  fold_right (fun u l ->
    fold_right (fun i l0 -> note g v (v.tr_of i) (edge_by w u x i) l0) l
      (v.leaving_of (w.control_of u))) [] us

(** val targets : int option list -> int list **)

let targets vs =
  flat_map (fun o -> match o with
                     | Some v -> v :: []
                     | None -> []) vs

(** val guards_eqb : grade -> view -> trans list -> trans list -> bool **)

let guards_eqb g v l l' =
  all2 (guard_eqb g v) l l'

(** val choices_of : grade -> view -> pview -> int list -> trans list list **)

let choices_of g v w us =
  different (guards_eqb g v)
    (map (fun u -> map v.tr_of (v.leaving_of (w.control_of u))) us)

(** val tied : (q * q) option -> matrix option -> matrix option **)

let tied shift m =
  match shift with
  | Some p ->
    let (a, b) = p in
    learn (true, Insample) (false, Insample) { most = b; unreached = false }
      (learn (false, Insample) (true, Insample) { most = (qopp a);
        unreached = false } m)
  | None -> m

(** val spots :
    view -> pview -> rnode -> int list -> int list -> spot list **)

let spots v w n us vs =
  app (flat_map (fun f -> f.f_low :: (f.f_high :: [])) n.n_facts)
    (app (flat_map (fun u -> spots_of v false (w.control_of u)) us)
      (flat_map (fun v0 -> spots_of v true (w.control_of v0)) vs))

(** val check_both :
    grade -> view -> pview -> int -> move -> (trans * int list) ->
    (trans * int option list) -> matrix option -> bool **)

let check_both g v w rest mv d1 d2 m =
  match learn_atoms g true (sure g v (fst d2)) m with
  | Some m0 ->
    (&&)
      ((&&) (forallb is_some (snd d2))
        (all2 (same_item m0) (fst d1).out (fst d2).out))
      (existsb (fun k ->
        let n' = w.node_at k in
        (&&)
          ((&&) ((&&) ((=) n'.n_suffix rest) (subset (snd d1) n'.n_first))
            (subset (targets (snd d2)) n'.n_second))
          (forallb (fact_follows0 m0 (fst d1) (fst d2)) n'.n_facts))
        mv.mv_after)
  | None -> true

(** val check_move :
    grade -> view -> relcert -> pview -> rnode -> int -> int -> move -> int
    list -> int list -> bool **)

let check_move g v c w n x rest mv firsts seconds =
  (&&) (check_paid g v c w n x mv firsts seconds)
    (let m =
       tied mv.mv_shift
         (learn_facts n.n_facts (unknown (spots v w n firsts seconds)))
     in
     let choices = choices_of g v w seconds in
     let others0 = doings_of g v w seconds x in
     forallb (fun d1 ->
       match filter (fun v0 -> mem v0 (w.able_of rest)) (targets (snd d1)) with
       | [] -> true
       | n0 :: l ->
         let m1 = learn_atoms g false (sure g v (fst d1)) m in
         (&&) (forallb (fun l0 -> can_go_on g v true l0 m1) choices)
           (forallb (fun d2 ->
             check_both g v w rest mv ((fst d1), (n0 :: l)) d2 m1) others0))
       (doings_of g v w firsts x))

(** val can_show : pview -> int -> int -> int -> bool **)

let can_show w x rest u =
  existsb (fun e ->
    (&&) ((=) e.m_letter x) (mem e.m_target (w.able_of rest))) (w.edges_of u)

(** val check_rnode : grade -> view -> relcert -> pview -> rnode -> bool **)

let check_rnode g v c w n =
  (&&) (qle_bool { qnum = Z0; qden = XH } n.n_pot)
    (match without n.n_second (w.sure_of n.n_suffix) with
     | [] -> true
     | n0 :: l ->
       let seconds = n0 :: l in
       (&&)
         ((||)
           ((||) (negb ((=) n.n_suffix 0))
             (negb (existsb (accepts c) n.n_first)))
           (forallb (accepts c) seconds))
         (forallb (fun b ->
           let x = b_letter b in
           let rest = b_rest b in
           (match filter (can_show w x rest) n.n_first with
            | [] -> true
            | n1 :: l0 ->
              (match find (fun mv ->
                       (&&) ((=) mv.mv_letter x) ((=) mv.mv_rest rest))
                       n.n_moves with
               | Some mv -> check_move g v c w n x rest mv (n1 :: l0) seconds
               | None -> false))) (w.made_of n.n_suffix)))

(** val is_start : relcert -> int -> rnode -> bool **)

let is_start c s n =
  (&&)
    ((&&)
      ((&&) ((&&) ((=) n.n_suffix s) (mem 0 n.n_first)) (mem 0 n.n_second))
      (negb (nonempty n.n_facts))) (qle_bool n.n_pot c.e_claim.c_D)

(** val check_initial : relcert -> pview -> bool **)

let check_initial c w =
  forallb (fun s ->
    (||) (negb (mem 0 (w.able_of s)))
      (existsb (fun k -> is_start c s (w.node_at k)) c.e_initial))
    (numbers c.e_suffixes.s_able)

(** val check_pairs :
    grade -> automaton -> view -> relcert -> pview -> bool **)

let check_pairs g a v c w =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) ((&&) (check_claim c.e_claim) (check_model g a v))
              (forallb (fun s -> negb (nonempty s.factors)) a.states))
            (check_machine a v c w)) (check_able c w)) (check_sure g v c w))
      (forallb (check_rnode g v c w) c.e_nodes)) (check_initial c w)

(** val check_relational : grade -> automaton -> relcert -> bool **)

let check_relational g a c =
  check_pairs g a (by_trees (grow a c.e_hints)) c (pgrow c)
