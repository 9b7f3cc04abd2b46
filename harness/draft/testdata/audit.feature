# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target karpenter@v1.6.4
#
# From audit.ndjson (audit log)
#
# Not known, or not as it was:
# - audit.ndjson: 1 lines are no audit events or are cut off, the last of them line 8; all others were taken
# - the zone eu-central-1a is test-zone-a here
# - the zone eu-central-1b is test-zone-b here
# - node a was tainted node.kubernetes.io/unreachable:NoExecute; here it is not
# - NodePool default requires karpenter.k8s.aws/instance-category, which kwok does not know: left out
# - the node class of NodePool default is one of kwok's, without images, networks and user data
# - pods of the namespace shop are in default here
# - the pod web-5 asks for example.com/gpu, which no machine here has: left out
# - the PriorityClass gold of the pod web-5 is not in the sources: left out

Feature: A pod finds a node

  Scenario: A pod finds a node with Karpenter 1.6.4
    Given a cluster
    # Nominal sizes: an operating system takes 5 % of the memory of each.
    And the cloud also has these instance types:
      | name      | cpu | memory |
      | m5-xlarge | 4   | 16.25  |
    And these Ready Nodes:
      | name | type      | zone        | labels    | taints                  |
      | a    | m5-xlarge | test-zone-a | team=shop | dedicated=db:NoSchedule |
    # Karpenter's to bring: b
    # How long machines take is not in the sources.
    And machines that register 30s after their launch and are Ready 20s later
    # The startup taint has to be removed; when, is not in the sources.
    And a node agent "agent-1" that taints its Node with "node.cilium.io/agent-not-ready=true:NoExecute" from 1s to 20s after registration
    # What it has by variables is in no draft; say "the target has the environment variables:" before.
    And Karpenter
    # The provider is kwok, with types such as c-4x-amd64-linux (4 CPUs; c has 2 GiB for each, s 4, m 8).
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata:
        name: default
      spec: {}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata:
        name: default
      spec:
        disruption:
          consolidateAfter: 30s
          consolidationPolicy: WhenEmpty
        limits:
          cpu: "100"
        template:
          metadata:
            labels:
              team: shop
          spec:
            expireAfter: 720h
            nodeClassRef:
              group: karpenter.kwok.sh
              kind: KWOKNodeClass
              name: default
            requirements:
            - key: topology.kubernetes.io/zone
              operator: In
              values:
              - test-zone-a
              - test-zone-b
            - key: karpenter.sh/capacity-type
              operator: In
              values:
              - spot
            startupTaints:
            - effect: NoExecute
              key: node.cilium.io/agent-not-ready
              value: "true"
        weight: 10
      """
    # The scheduler on web-5: 0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}.
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        labels:
          app: web
        name: web-5
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 1500m
              memory: 2Gi
        nodeSelector:
          team: shop
          topology.kubernetes.io/zone: test-zone-b
        topologySpreadConstraints:
        - labelSelector:
            matchLabels:
              app: web
          maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
      """
    Then the pod "web-5" is Running within 15m
