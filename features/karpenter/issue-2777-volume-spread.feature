# https://github.com/kubernetes-sigs/karpenter/issues/2777, fixed by https://github.com/kubernetes-sigs/karpenter/pull/2780

@karpenter @issue-2777
Feature: A pod with a volume in one zone is spread as pods without are

  @karpenter-2777-volume-spread
  Scenario: The second pod of a zone comes once all zones have one
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
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a, test-zone-b, test-zone-c]}
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: zonal}
      provisioner: disk.example.com
      volumeBindingMode: WaitForFirstConsumer
      ---
      apiVersion: storage.k8s.io/v1
      kind: CSIDriver
      metadata: {name: disk.example.com}
      spec: {attachRequired: false}
      ---
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: web-0}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        claimRef: {namespace: default, name: web-0}
        csi: {driver: disk.example.com, volumeHandle: web-0}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}]
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: web-0}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        volumeName: web-0
        resources: {requests: {storage: 1Gi}}
      ---
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: web-1}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        claimRef: {namespace: default, name: web-1}
        csi: {driver: disk.example.com, volumeHandle: web-1}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-b]}]
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: web-1}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        volumeName: web-1
        resources: {requests: {storage: 1Gi}}
      ---
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: web-2}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        claimRef: {namespace: default, name: web-2}
        csi: {driver: disk.example.com, volumeHandle: web-2}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-c]}]
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: web-2}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        volumeName: web-2
        resources: {requests: {storage: 1Gi}}
      ---
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: web-3}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        claimRef: {namespace: default, name: web-3}
        csi: {driver: disk.example.com, volumeHandle: web-3}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}]
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: web-3}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: zonal
        volumeName: web-3
        resources: {requests: {storage: 1Gi}}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web-0, labels: {app: web}}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, minDomains: 3, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: web-0}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web-1, labels: {app: web}}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, minDomains: 3, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: web-1}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web-2, labels: {app: web}}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, minDomains: 3, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: web-2}}]
      """
    Then every pod is Running within 5m
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web-3, labels: {app: web}}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, minDomains: 3, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: web-3}}]
      """
    Then the pod "web-3" is Running within 5m
