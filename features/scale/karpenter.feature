# Karpenter's own tests of performance hold it to two minutes, half a core and 260 MB for a
# thousand pods. Played by BenchmarkAutoscalers.

@karpenter @scale
Feature: Karpenter brings and removes nodes by the hundred

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s, budgets: [{nodes: 100%}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """

  Scenario: A thousand pods find nodes
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1000
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1, memory: 1Gi}}}]
      """
    Then "node" has recorded "running" of "pods" at least 1000 times within 15m

  Scenario: Five thousand pods wait at once, and may be on any instance type
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 5000
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1, memory: 1Gi}}}]
      """
    Then "node" has recorded "running" of "pods" at least 5000 times within 30m

  Scenario: Of five hundred nodes ten are needed
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 500
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            affinity:
              podAntiAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: web, image: web, resources: {requests: {cpu: 1, memory: 1Gi}}}]
      """
    Then "node" has recorded "running" of "pods" at least 500 times within 30m
    When "Deployment/web" is scaled to 10
    Then "node" has recorded "deleted" of "nodes" at least 490 times within 30m
